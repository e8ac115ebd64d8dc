/** Five hundred jobs: in the panel, and on the page of all jobs, shown, scrolled, sorted and searched. */

import { execFileSync } from 'child_process';
import { join, resolve } from 'path';

import { command, ended, expect, openNotebook, openPanel, submitRuns, test } from '../fixtures';
import { cost, save, untilDrawn } from './measure';

const JOBS = 500;
const ROOT = resolve(__dirname, '..', '..', '..');

test('five hundred jobs are listed', async ({ page, browser, server }) => {
  for (const values of [{}, { BATCH_SIZE: 128 }, { LEARNING_RATE: 0.3 }, { EPOCHS: 3 }]) {
    const id = await submitRuns(server);
    const again = (await server.json(`jobs/${id}/rerun`, { values })) as { id: string };
    await ended(server, again.id);
  }
  const copies = join(__dirname, 'copies.py');
  const { jobs } = (await server.json('jobs')) as { jobs: object[] };
  const more = String(JOBS - jobs.length);
  execFileSync(join(ROOT, '.venv', 'bin', 'python'), [copies, join(server.folder, 'data'), more]);
  await expect
    .poll(async () => ((await server.json('jobs')) as { jobs: object[] }).jobs.length)
    .toBe(JOBS);
  await openNotebook(page, server, 'runs.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByRole('button', { name: /^Show more/ })).toBeVisible();
  const rest = await cost(browser, page, () => page.waitForTimeout(8_000));
  const allInPanel = await cost(browser, page, async () => {
    await panel.getByRole('button', { name: /^Show more/ }).click();
    await page.waitForTimeout(1_000);
  });
  const rowsInPanel = await panel.locator('.jp-PaddleGpu-job').count();
  let shown = 0;
  const show = await cost(browser, page, async () => {
    [shown] = await untilDrawn(page, ['.jp-PaddleGpu-jobsPage tbody tr'], async () => {
      await page.evaluate(() => window.dispatchEvent(new PointerEvent('pointerdown')));
      await command(page, 'paddle-gpu:open-jobs');
    });
  });
  const view = page.locator('.jp-PaddleGpu-jobsPage');
  const box = await view.locator('tbody tr').nth(5).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 5);
  const scroll = await cost(browser, page, async () => {
    for (let turn = 0; turn < 400; turn++) {
      await page.mouse.wheel(0, 120);
      await page.waitForTimeout(16);
    }
  });
  const rows = await view.locator('tbody tr').count();
  // Where things stand is asked before: finding a button by its name among 500 rows takes the page longer than sorting.
  const final = view.getByRole('button', { name: 'Final' });
  await final.scrollIntoViewIfNeeded();
  const heading = await final.boundingBox();
  const sort = await cost(browser, page, async () => {
    await page.mouse.click((heading?.x ?? 0) + 5, (heading?.y ?? 0) + 5);
    await page.waitForTimeout(1_000);
  });
  await expect(view.locator('th[aria-sort=descending]', { hasText: 'Final' })).toBeVisible();
  await view.getByRole('searchbox', { name: 'Find jobs' }).focus();
  const find = await cost(browser, page, async () => {
    await page.keyboard.type('batch 128', { delay: 100 });
    await page.waitForTimeout(1_000);
  });
  save('five_hundred_jobs', {
    jobs: JOBS,
    show_milliseconds: shown,
    rows_after_scrolling: rows,
    page_at_rest: rest,
    rows_in_panel_after_show_more: rowsInPanel,
    ...{ panel_show_more: allInPanel, page_shown: show, scroll, sort, find_nine_letters: find }
  });
});
