/** All runs on one page: list, compare, run again with another value, delete and take it back, by pointer and by keys. */

import { execFileSync } from 'child_process';
import { join } from 'path';

import { command, ended, expect, openLab, submitRuns, test, unhurried } from './fixtures';
import { KERNEL, type LabServer } from './server';

async function rerun(server: LabServer, id: string, values: object): Promise<string> {
  return ((await server.json(`jobs/${id}/rerun`, { values })) as { id: string }).id;
}

/** Puts rows into the store beside one that is there: of another user, in another pool. */
const OTHERS = `
import sys
from pathlib import Path
from msgspec.structs import replace
from jupyter_paddle_gpu.jobs.store.job_store import JobStore
store = JobStore(Path(sys.argv[1]))
row = store.get(sys.argv[2])
for name, owner, engine in (("hers", "grace", "local"), ("boxed", "grace", "docker"), ("mine", row.owner, "docker")):
    spec = replace(row.spec, name=name, engine=engine, token="")
    store.add(replace(row, id=f"{row.id}-{name}", spec=spec, owner=owner))
`;

/** Takes all of them out again: the tests behind find the list empty. */
const NONE = `
import sys
from pathlib import Path
from jupyter_paddle_gpu.jobs.store.job_store import JobStore
store = JobStore(Path(sys.argv[1]))
for job in store.select():
    store.remove(job.id)
`;

test('of several users and pools one is chosen', async ({ page, server }) => {
  const id = await submitRuns(server);
  await ended(server, id);
  const store = join(server.folder, 'data', 'paddle_gpu', 'jobs.sqlite');
  execFileSync(KERNEL, ['-c', OTHERS, store, id]);
  await openLab(page, server);
  await command(page, 'paddle-gpu:open-jobs');
  const view = page.locator('.jp-PaddleGpu-jobsPage');
  const names = view.locator('tbody .jp-PaddleGpu-jobName');
  const shown = (...wanted: string[]) =>
    expect.poll(async () => (await names.allTextContents()).sort()).toEqual(wanted.sort());
  await shown('boxed', 'hers', 'mine', 'runs');
  const user = view.getByRole('combobox', { name: 'User' });
  const pool = view.getByRole('combobox', { name: 'Where' });
  await user.selectOption('grace');
  await shown('boxed', 'hers');
  await pool.selectOption({ label: 'Docker' });
  await shown('boxed');
  await user.selectOption('');
  await shown('boxed', 'mine');
  await view.getByRole('button', { name: 'Show all' }).click();
  await shown('boxed', 'hers', 'mine', 'runs');
  await expect(user).toHaveValue('');

  // A note's address is a link, in the list and on the job's page.
  const address = 'https://example.org/runs/17?of=4#loss';
  const row = view.locator('tbody tr').filter({ hasText: /^.*runs/ });
  await row.getByRole('button', { name: 'Note about runs' }).click();
  await row.getByRole('textbox', { name: 'Note about runs' }).fill(`see ${address}.`);
  await page.keyboard.press('Enter');
  const link = row.getByRole('link', { name: address });
  await expect(link).toHaveAttribute('href', address);
  await expect(link).toHaveAttribute('rel', /noopener/);
  await expect(row).toContainText(`see ${address}.`);
  await row.getByRole('button', { name: 'runs', exact: true }).click();
  await expect(
    page.locator('.jp-PaddleGpu-view').getByRole('link', { name: address })
  ).toHaveAttribute('href', address);
  execFileSync(KERNEL, ['-c', NONE, store]);
});

test('from the list of runs to a comparison, another run, a deletion and back', async ({
  page,
  server
}) => {
  const first = await submitRuns(server);
  const second = await rerun(server, first, { BATCH_SIZE: 128 });
  await ended(server, second);
  await openLab(page, server);
  await command(page, 'paddle-gpu:open-jobs');

  // Two runs of one notebook are told apart by what differs, their curve and what came out.
  const view = page.locator('.jp-PaddleGpu-jobsPage');
  const rows = view.locator('tbody tr');
  await expect(rows).toHaveCount(2);
  const [newer, older] = [rows.nth(0), rows.nth(1)];
  await expect(newer).toContainText('batch 128');
  await expect(older).toContainText('batch 64');
  // As narrow as between two sidebars at a projector, a name is whole.
  await page.setViewportSize({ width: 620, height: 540 });
  const cut = (name: Element) => name.scrollWidth - name.clientWidth;
  const name = newer.getByRole('button', { name: 'runs', exact: true });
  await expect.poll(() => name.evaluate(cut)).toBe(0);
  await page.setViewportSize({ width: 1400, height: 1000 });
  await expect(newer.getByRole('img', { name: /^loss from/ })).toBeVisible();
  await expect(newer).toContainText(/acc 0\.\d+/);
  await view.getByRole('button', { name: 'Final' }).click();
  await expect(rows.nth(0)).toContainText('batch 64');
  await expect(view.getByRole('columnheader', { name: 'Final' })).toHaveAttribute(
    'aria-sort',
    'descending'
  );
  await view.getByRole('searchbox', { name: 'Find jobs' }).fill('batch 128');
  await expect(rows).toHaveCount(1);
  await view.getByRole('button', { name: 'Show all' }).click();

  // A note and a star stay with the job.
  const other = rows.filter({ hasText: 'batch 128' });
  await other.getByRole('button', { name: 'Star runs' }).click();
  await other.getByRole('button', { name: 'Note about runs' }).click();
  await other.getByRole('textbox', { name: 'Note about runs' }).fill('twice the batch');
  await page.keyboard.press('Enter');
  await expect(other).toContainText('twice the batch');
  await expect
    .poll(() => server.json(`jobs/${second}`))
    .toMatchObject({ starred: true, note: 'twice the batch' });

  // Side by side.
  await view.getByRole('checkbox', { name: 'Choose all' }).check();
  await view.getByRole('button', { name: 'Compare 2' }).click();
  const comparison = view.getByRole('region', { name: 'Comparison' });
  await expect(comparison.getByRole('heading', { level: 2 }).first()).toBeFocused();
  await expect(comparison.getByRole('slider', { name: 'loss of 2 jobs' })).toBeVisible();
  await expect(comparison.getByRole('row', { name: 'batch 64 128' })).toBeVisible();
  await expect(comparison).toContainText('The code is the same.');
  await comparison.getByRole('slider', { name: 'loss of 2 jobs' }).press('Home');
  await expect(comparison.locator('.jp-PaddleGpu-readout').first()).toContainText('batch 64');
  await comparison.getByRole('button', { name: 'Close' }).click();

  // Run again with another value: a wrong one is refused where it was typed.
  await view.getByRole('checkbox', { name: 'Choose all' }).uncheck();
  await older.getByRole('checkbox').check();
  await view.getByRole('button', { name: 'Re-run with…' }).click();
  const dialog = page.getByRole('dialog');
  const rate = dialog.getByLabel('LEARNING_RATE');
  await rate.fill('fast');
  await expect(dialog).toContainText('A number is wanted here.');
  await rate.fill('0.3');
  await expect(dialog).toContainText('It begins anew');
  await dialog.getByRole('button', { name: 'Run' }).click();

  // Its page: curves with the last run beside them, figures, facts, the log.
  const job = page.locator('.jp-PaddleGpu-view:visible');
  await expect(job.getByRole('heading', { level: 1 })).toContainText('learning rate 0.3');
  await expect(job.getByRole('button', { name: 'Re-run', exact: true })).toBeVisible({
    timeout: 180_000
  });
  // What its tab has no room for is told under the pointer.
  const tab = page.locator('.lm-TabBar-tab[title*="learning rate 0.3"]');
  await expect(tab).toHaveAttribute('title', /^runs · .+ · done\n.*runs\.ipynb/);
  await expect(job.getByRole('slider', { name: /^loss over time/ })).toBeVisible();
  await expect(job.getByText('loss, last run').first()).toBeVisible();
  await expect(job.getByRole('img', { name: 'Figure 1, of cell 3' })).toBeVisible();
  // Nothing unseen makes the page wider than it is.
  const sideways = (page: Element) => page.scrollWidth - page.clientWidth;
  expect(await job.locator('.jp-PaddleGpu-tabPanel').evaluate(sideways)).toBe(0);
  await expect(job.getByRole('region', { name: 'Facts' })).toContainText(
    'LEARNING_RATE 0.1 → 0.3'
  );
  await job.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(job.getByRole('log', { name: 'Log of the job' })).toContainText('epoch 4/4');

  // Beside an open sidebar on a small screen the words of its memory take a second line.
  await page.setViewportSize({ width: 620, height: 800 });
  await job.getByRole('tab', { name: 'Memory' }).click();
  const row = job.locator('.jp-PaddleGpu-memoryRow').first();
  await expect(row).toContainText('own process');
  const words = row.locator('.jp-PaddleGpu-row > span:not(.jp-PaddleGpu-space)');
  expect(
    await words.evaluateAll(all => all.map(one => one.scrollWidth > one.clientWidth))
  ).toEqual([false, false]);
  await page.setViewportSize({ width: 1400, height: 1000 });

  // Delete, and take it back: the focus is on the way back.
  await command(page, 'paddle-gpu:open-jobs');
  await expect(rows).toHaveCount(3);
  const newest = rows.filter({ hasText: 'learning rate 0.3' });
  await view.getByRole('checkbox', { name: 'Choose all' }).check();
  await unhurried(page, () => view.getByRole('button', { name: 'Delete 3' }).click());
  await expect(view).toContainText('3 jobs will be deleted.');
  await expect(view.getByRole('button', { name: 'Undo' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(view).not.toContainText('will be deleted');
  await newest.getByRole('checkbox').check();
  await view.getByRole('button', { name: 'Delete 1' }).click();
  await expect(rows).toHaveCount(2, { timeout: 60_000 });
});

test('runs are compared on a page that was just loaded', async ({ page, server }) => {
  const first = await submitRuns(server);
  const second = await rerun(server, first, { BATCH_SIZE: 128 });
  await ended(server, second);
  await openLab(page, server);
  await command(page, 'paddle-gpu:compare-jobs', { ids: [first, second] });
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await expect(comparison.getByRole('slider').first()).toBeVisible();
});
