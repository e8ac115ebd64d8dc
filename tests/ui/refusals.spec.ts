/** Notebooks that cannot be read, or not be run to their end: each gets a sentence, and the panel goes on working. */

import { symlinkSync, writeFileSync } from 'fs';
import { join } from 'path';

import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';
import { notebook } from './server';

const LINEAR = `import paddle
model = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(3):
    loss = model(paddle.ones([8, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()`;
/** More than the 40 MB that are read, without making JupyterLab draw it. */
const HUGE_BYTES = 50_000_000;

test('a broken cell is named, and the rest is read', async ({ page, server }) => {
  const cells = notebook([LINEAR, 'def broken(:\n    pass']);
  writeFileSync(join(server.root, 'broken.ipynb'), JSON.stringify(cells));
  await openNotebook(page, server, 'broken.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('Cell 2 is not valid Python')).toBeVisible();
  await expect(panel.getByText('Linear', { exact: true })).toBeVisible();
});

test('a link out of the folder is refused', async ({ page, server }) => {
  const outside = join(server.folder, 'outside.ipynb');
  writeFileSync(outside, JSON.stringify(notebook([LINEAR])));
  symlinkSync(outside, join(server.root, 'linked.ipynb'));
  await openNotebook(page, server, 'linked.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('lies outside the folder').first()).toBeVisible();
});

test('a notebook of 50 MB is refused', async ({ page, server }) => {
  test.slow();
  const huge = { ...notebook([LINEAR]), metadata: { junk: 'x'.repeat(HUGE_BYTES) } };
  writeFileSync(join(server.root, 'huge.ipynb'), JSON.stringify(huge));
  await openNotebook(page, server, 'huge.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('are accepted').first()).toBeVisible({ timeout: 180_000 });
});

test('a binary file that JupyterLab itself refuses leaves the panel working', async ({
  page,
  server
}) => {
  writeFileSync(
    join(server.root, 'binary.ipynb'),
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff])
  );
  await page.goto(`${server.url}/lab/tree/binary.ipynb?reset`);
  // JupyterLab says that it cannot load the file, and then asks what to do with the empty tab.
  const dialog = page.locator('.jp-Dialog');
  await dialog.getByRole('button', { name: 'Close' }).click({ timeout: 180_000 });
  await dialog.getByRole('button', { name: /discard/i }).click();
  const panel = await openPanel(page);
  await expect(panel.getByText('Open a notebook to see')).toBeVisible();
  await openNotebook(page, server, 'digits_loop.ipynb');
  await expect((await openPanel(page)).getByText('RowReader')).toBeVisible();
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
