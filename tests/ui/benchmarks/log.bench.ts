/** A job that prints 10,000 lines a second, on its page and in the panel; then one million lines, scrolled. */

import type { Page } from '@playwright/test';
import { writeFileSync } from 'fs';
import { join } from 'path';

import { command, ended, expect, openLab, openNotebook, openPanel, submitButton, test } from '../fixtures';
import { type LabServer, notebook } from '../server';
import { cost, median, quantile, save } from './measure';

const RATE = 10_000;
const SECONDS = Number(process.env.SECONDS_WATCHED ?? 15);
const MILLION = 1_000_000;
/** A tenth of a second's lines at a time, by the clock: a job that is late does not print more at once. */
const PRINT = `import time
begun = time.time()
for turn in range(${10 * (4 * SECONDS + 60)}):
    print("\\n".join(f"turn {turn} line {n}: what a training may say of itself" for n in range(${RATE / 10})), flush=True)
    time.sleep(max(0, begun + (turn + 1) / 10 - time.time()))`;
const MANY = `for turn in range(1000):
    print("\\n".join(f"line {1000 * turn + n}: what a training may say of itself" for n in range(1000)))`;

test('10,000 lines a second arrive', async ({ page, browser, server }) => {
  writeFileSync(join(server.root, 'prints.ipynb'), JSON.stringify(notebook([PRINT])));
  await openNotebook(page, server, 'prints.ipynb');
  const panel = await openPanel(page);
  const wait = () => page.waitForTimeout(1000 * SECONDS);
  await page.waitForTimeout(3_000);
  const rest = await cost(browser, page, wait);
  await submitButton(panel).click();
  await expect(panel.getByRole('log')).toContainText('turn', { timeout: 60_000 });
  await page.waitForTimeout(3_000);
  const id = await newest(server);
  const inPanel = await counted(server, id, () => cost(browser, page, wait));
  await openLog(page, id);
  await page.waitForTimeout(3_000);
  const onPage = await counted(server, id, () => cost(browser, page, wait));
  // What is on the screen is what was printed last, not what piled up.
  const behind = await page.evaluate(
    () =>
      [...document.querySelectorAll('.jp-PaddleGpu-logRow')]
        .map(row => Number(/turn (\d+) /.exec(row.textContent ?? '')?.[1] ?? -1))
        .reduce((a, b) => Math.max(a, b), -1) / 10
  );
  const { lines } = (await server.json(`jobs/${id}/log?since=-1`)) as { lines: { x: string }[] };
  await server.json(`jobs/${id}/cancel`, { force: true });
  await ended(server, id);
  save('lines_arriving', {
    wanted_lines_a_second: RATE,
    seconds: SECONDS,
    page_at_rest: rest,
    in_the_panel: inPanel,
    log_on_the_page: onPage,
    seconds_behind_at_most: Number(/turn (\d+) /.exec(lines[0].x)?.[1]) / 10 - behind
  });
});

test('one million lines are scrolled', async ({ page, browser, server }) => {
  writeFileSync(join(server.root, 'million.ipynb'), JSON.stringify(notebook([MANY])));
  const content = notebook([MANY]);
  const { id } = (await server.json('jobs', { path: 'million.ipynb', content })) as { id: string };
  await ended(server, id);
  const { total } = (await server.json(`jobs/${id}/log?since=-1`)) as { total: number };
  expect(total).toBeGreaterThanOrEqual(MILLION);
  await openLab(page, server);
  const opened = Date.now();
  const log = await openLog(page, id);
  await expect(log).toContainText('line 999999');
  const open = Date.now() - opened;
  const rest = await cost(browser, page, () => page.waitForTimeout(10_000));
  const box = (await log.boundingBox()) as { x: number; y: number };
  await page.mouse.move(box.x + 200, box.y + 100);
  const wheel = await cost(browser, page, async () => {
    const end = Date.now() + 10_000;
    while (Date.now() < end) {
      await page.mouse.wheel(0, -400);
      await page.waitForTimeout(16);
    }
  });
  // By its bar to some place far away, as many times; until every row there is drawn.
  const places = Array.from({ length: 30 }, (_, number) => ((number * 13) % 30) / 30 + 0.01);
  const jumps: number[] = [];
  const dragged = await cost(browser, page, async () => {
    for (const place of places) {
      jumps.push(await log.evaluate(jump, place));
    }
  });
  save('million_lines', {
    lines: total,
    open_milliseconds: open,
    page_at_rest: rest,
    wheel,
    jumps: { count: jumps.length, median: median(jumps), longest: quantile(jumps, 1), ...dragged }
  });
});

async function openLog(page: Page, id: string) {
  await command(page, 'paddle-gpu:open-job', { id });
  const view = page.locator('.jp-PaddleGpu-view:visible');
  await view.getByRole('tab', { name: 'Log' }).click();
  const log = view.getByRole('log', { name: 'Log of the job' });
  await expect(log.locator('.jp-PaddleGpu-logRow').first()).toBeVisible();
  return log;
}

async function newest(server: LabServer): Promise<string> {
  return ((await server.json('jobs')) as { jobs: { id: string }[] }).jobs[0].id;
}

/** With the lines a second that the job really wrote meanwhile. */
async function counted<T>(server: LabServer, id: string, act: () => Promise<T>) {
  const total = async () =>
    ((await server.json(`jobs/${id}/log?since=-1`)) as { total: number }).total;
  const before = [await total(), Date.now()];
  const found = await act();
  return {
    lines_a_second: (1000 * ((await total()) - before[0])) / (Date.now() - before[1]),
    ...found
  };
}

/** In the page: scroll to a share of the log; milliseconds until no row waits for its page. */
function jump(node: HTMLElement | SVGElement, place: number): Promise<number> {
  return new Promise(done => {
    const began = performance.now();
    node.scrollTop = place * node.scrollHeight;
    const look = (): void => {
      const box = node.getBoundingClientRect();
      const rows = [...node.querySelectorAll('.jp-PaddleGpu-logRow')].filter(row => {
        const { top, bottom } = row.getBoundingClientRect();
        return bottom > box.top && top < box.bottom;
      });
      if (rows.length > 5 && rows.every(row => row.textContent !== '…')) {
        done(performance.now() - began);
      } else {
        requestAnimationFrame(look);
      }
    };
    requestAnimationFrame(() => requestAnimationFrame(look));
  });
}
