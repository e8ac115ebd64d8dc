/** What becomes of a run that fails: the reason, the way to its cell and to what it printed; its page by keyboard. */

import { expect, jobRow, openPanel, submitButton, test, turnTo } from './fixtures';

test.use({ sharesPage: true });

test('a training that fails names the cell and the next step', async ({ page, server }) => {
  await turnTo(page, server, 'wine_broken.ipynb');
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
    if (name === 'Notebook') {
      // What was executed, to be read here.
      const executed = view.getByRole('group', { name: 'Executed copy' }).locator('.jp-Cell');
      await expect(executed.nth(5)).toContainText('one_hot = np.eye(4');
      await expect(executed.nth(5).locator('.jp-OutputArea')).toContainText('Error');
    }
  }
});
