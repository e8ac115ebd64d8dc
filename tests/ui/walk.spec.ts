/** The whole walk: open a notebook, see what it takes, submit it, watch it, open the result. */

import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';

test('from an open notebook to its executed copy', async ({ page, server }) => {
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);

  // What trains is read without a click, and leads to its cell.
  await expect(panel.getByText('DigitNet')).toBeVisible();
  await expect(panel.getByText('batch 64')).toBeVisible();
  await panel.getByRole('button', { name: 'batch 64, go to cell 9' }).click();
  await expect(page.locator('.jp-Notebook .jp-Cell.jp-mod-active')).toContainText(
    'BATCH_SIZE = 64'
  );

  // The estimate comes on a click only.
  const memory = panel.getByRole('region', { name: 'Memory of one training step' });
  await expect(memory.locator('.jp-PaddleGpu-big')).toHaveCount(0);
  await memory.getByRole('button', { name: 'Estimate' }).click();
  await expect(memory.locator('.jp-PaddleGpu-big')).toHaveText(/^\d+(\.\d+)? MiB$/, {
    timeout: 180_000
  });
  await expect(memory.getByRole('term').filter({ hasText: 'Activations' })).toBeVisible();
  await expect(memory.getByRole('slider', { name: 'Memory over one step' })).toBeVisible();
  await expect(panel.getByTitle('544.9 k parameters')).toBeVisible();

  // A size that the model refuses is told with its reason, and taken back.
  const advice = panel.getByRole('region', { name: 'Could save' });
  await advice.getByRole('button', { name: 'more, what if…' }).click();
  await advice.getByLabel('Images, pixels a side').fill('64');
  await advice.getByLabel('Images, pixels a side').press('Enter');
  await expect(memory).toContainText('There is no number for this', { timeout: 180_000 });
  await expect(memory.getByRole('note')).toContainText('With images of 64 × 64 pixels');
  await advice.getByRole('button', { name: 'As in the notebook' }).click();
  await expect(memory.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });

  // Where it fits: known cards where none is here.
  const fits = panel.getByRole('region', { name: 'Devices' });
  await expect(fits.getByText('This machine', { exact: true })).toBeVisible();

  // Submit from the notebook's toolbar; the job and its log appear at once.
  await page
    .locator('.jp-NotebookPanel-toolbar')
    .getByRole('button', { name: 'Submit training' })
    .click();
  const row = jobRow(panel, 'digits_fit');
  await expect(row).toBeInViewport();
  await expect(row.getByRole('log')).toContainText('step', { timeout: 180_000 });

  // Its own view, until it is done.
  await row.getByRole('button', { name: 'digits_fit', exact: true }).click();
  const view = page.locator('.jp-PaddleGpu-view');
  await expect(view.getByRole('log')).toContainText('test accuracy', { timeout: 180_000 });
  await expect(view.getByRole('heading', { level: 1 })).toContainText('digits_fit · batch 64');
  await expect(row).toHaveAttribute('data-state', 'succeeded', { timeout: 180_000 });
  await expect(row).toContainText(/estimated [\d.]+ MiB, measured [\d.]+ MiB/);
  await expect(view.getByRole('slider', { name: /^loss over time, last value/ })).toBeVisible();
  await view.getByRole('tab', { name: 'Memory' }).click();
  await expect(view.getByText('Measured', { exact: true })).toBeVisible();

  // The executed notebook, with one click.
  await view.getByRole('button', { name: 'Executed copy' }).click();
  const executed = page.locator('.jp-NotebookPanel:visible');
  await expect(executed.locator('.jp-OutputArea-output').first()).toContainText('paddle');
  expect(page.url()).toContain('paddle-gpu-runs/digits_fit-');
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
