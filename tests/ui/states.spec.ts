/** What axe-core says of every state, and what becomes of a run that fails. */

import { faults } from './axe';
import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';
import { PAGE_STATES } from './states/pages';
import { enter, furnish, PANEL_STATES } from './states/panel';

const STATES = [...PANEL_STATES, ...PAGE_STATES];
/** Where JupyterLab keeps its language. */
const LANGUAGE = '@jupyterlab/translation-extension:plugin';

test('no state has a fault, in any theme', async ({ page, server }) => {
  furnish(server);
  await enter({ page, server });
  for (const { name, part, reach } of STATES) {
    await test.step(name, async () => {
      await reach({ page, server });
      expect.soft(await faults(page, part), name).toEqual([]);
    });
  }
});

// What depends on a theme was looked at in English; here is the server of the first walk, with its jobs.
test('nor in Chinese', async ({ page, server }) => {
  furnish(server);
  server.set(LANGUAGE, { locale: 'zh_CN' });
  try {
    await enter({ page, server });
    for (const { name, part, reach } of STATES) {
      await test.step(name, async () => {
        await reach({ page, server });
        expect.soft(await faults(page, part, false), name).toEqual([]);
      });
    }
  } finally {
    server.set(LANGUAGE, { locale: 'default' });
  }
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

  // Its page, tab by tab, by keyboard: the focus is never lost to the page.
  await page.getByRole('tab', { name: /^wine_broken · / }).click();
  await view.getByRole('tab', { name: 'Overview' }).focus();
  for (const name of ['Log', 'Memory', 'Notebook', 'Details']) {
    await page.keyboard.press('ArrowRight');
    await expect(view.getByRole('tab', { name })).toBeFocused();
    await expect(view.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
    await view.getByRole('tab', { name }).focus();
  }
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
