/** What axe-core says of states that are seldom looked at, a job page by keyboard, and what becomes of a run that fails. */

import { type Page } from '@playwright/test';
import { writeFileSync } from 'fs';
import { join } from 'path';

import { faults } from './axe';
import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';
import { command, setTheme } from './screenshots/pictures';
import { notebook } from './server';

const PANEL = '#jp-PaddleGpu-panel';
const PAGE = '.jp-PaddleGpu-view:visible';

/** A training whose batch comes from a file that is not here. */
const ASKS = `import json
import paddle
size = len(json.load(open("captions.json")))
model = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(3):
    loss = model(paddle.ones([size, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()`;

async function hasFocusIn(page: Page, where: string): Promise<boolean> {
  return page.evaluate(selector => !!document.activeElement?.closest(selector), where);
}

test('a question, a stop and a failed job have no faults, in three looks', async ({
  page,
  server
}) => {
  writeFileSync(join(server.root, 'asks.ipynb'), JSON.stringify(notebook([ASKS])));
  await openNotebook(page, server, 'asks.ipynb');
  const panel = await openPanel(page);
  await panel.locator('.jp-PaddleGpu-invitation button').click();
  await expect(panel.locator('.jp-PaddleGpu-question').first()).toBeVisible();
  expect(await faults(page, PANEL)).toEqual([]);

  await openNotebook(page, server, 'wine_broken.ipynb');
  await openPanel(page);
  await panel.locator('.jp-PaddleGpu-invitation button').click();
  await expect(panel.locator('[data-code=would_stop]')).toBeVisible();
  await expect(panel.locator('.jp-PaddleGpu-fitChip')).toContainText('would stop in cell 6');
  expect(await faults(page, PANEL)).toEqual([]);
  // The cell that trains wears its number.
  await expect(page.locator('.jp-Cell .jp-PaddleGpu-cellBadge')).toBeVisible();

  await command(page, 'paddle-gpu:submit');
  const row = jobRow(panel, 'wine_broken');
  await expect(row).toHaveAttribute('data-state', 'failed');
  await setTheme(page, 'dark');
  expect(await faults(page, PANEL)).toEqual([]);
  await setTheme(page, 'light');

  // Its page, tab by tab, by keyboard: the focus is never lost to the page.
  await row.getByRole('button', { name: 'wine_broken', exact: true }).click();
  const job = page.locator(PAGE);
  await job.getByRole('tab', { name: 'Overview' }).focus();
  for (const name of ['Log', 'Memory', 'Notebook', 'Details']) {
    await page.keyboard.press('ArrowRight');
    await expect(job.getByRole('tab', { name })).toBeFocused();
    await expect(job.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
    expect(await faults(page, '.jp-PaddleGpu-view')).toEqual([]);
    await page.keyboard.press('Tab');
    expect(await hasFocusIn(page, 'body *')).toBe(true);
    await job.getByRole('tab', { name }).focus();
  }
  await page.emulateMedia({ forcedColors: 'active' });
  expect(await faults(page, PANEL)).toEqual([]);
  expect(await faults(page, '.jp-PaddleGpu-view')).toEqual([]);
  await page.emulateMedia({ forcedColors: null });
});

test('a training that fails names the cell and the next step', async ({ page, server }) => {
  await openNotebook(page, server, 'wine_broken.ipynb');
  const panel = await openPanel(page);
  await submitButton(panel).click();
  const row = jobRow(panel, 'wine_broken');
  await expect(row).toHaveAttribute('data-state', 'failed', { timeout: 180_000 });
  await expect(row.getByRole('alert')).toContainText('Cell 6, line 5 failed');
  await row.getByRole('button', { name: 'wine_broken', exact: true }).click();
  const view = page.locator('.jp-PaddleGpu-view');
  await expect(view.getByRole('alert')).toContainText('submit again');
  await view.getByRole('button', { name: 'Go to cell 6' }).click();
  const cell = page.locator('.jp-NotebookPanel:visible .jp-Cell.jp-mod-active');
  await expect(cell).toContainText('one_hot = np.eye(4');
  expect(page.url()).toContain('wine_broken.ipynb');
  expect(page.url()).not.toContain('paddle-gpu-runs');
  // What it printed when it failed is in the executed copy.
  await page.getByRole('tab', { name: /^wine_broken · / }).click();
  await view.getByRole('button', { name: 'See it as executed' }).click();
  await expect(cell).toContainText('one_hot = np.eye(4');
  expect(page.url()).toContain('paddle-gpu-runs/wine_broken-');
  // In the log, a line of the traceback leads to the cell of the source.
  await page.getByRole('tab', { name: /^wine_broken · / }).click();
  await view.getByRole('tab', { name: 'Log' }).click();
  await view.getByRole('button', { name: 'Jump to the error' }).click();
  await view.getByRole('button', { name: 'cell 6, line 5', exact: true }).first().click();
  await expect(cell).toContainText('one_hot = np.eye(4');
  expect(page.url()).not.toContain('paddle-gpu-runs');
});

test('an empty notebook is refused with a reason', async ({ page, server }) => {
  await openNotebook(page, server, 'empty.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('There is no code in this notebook yet.')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Estimate' })).toBeDisabled();
  await submitButton(panel).click();
  const submit = panel.getByRole('region', { name: 'Submit' });
  await expect(submit.getByRole('alert')).toContainText('has no code to run');
  await expect(jobRow(panel, 'empty')).toHaveCount(0);
});
