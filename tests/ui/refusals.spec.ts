/** Notebooks that cannot be read: each gets a sentence in the panel, and the panel goes on working. */

import { symlinkSync, writeFileSync } from 'fs';
import { join } from 'path';

import { expect, jobRow, openLab, openPanel, submitButton, test, turnTo } from './fixtures';
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

test.use({ sharesPage: true });

test('an empty notebook is refused with a reason', async ({ page, server }) => {
  await turnTo(page, server, 'empty.ipynb');
  const panel = await openPanel(page);
  const reason = 'There is no code in this notebook yet.';
  await expect(panel.getByRole('status').filter({ hasText: reason })).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Estimate' })).toBeDisabled();
  await expect(submitButton(panel)).toBeDisabled();
  await expect(panel.getByRole('region', { name: 'Submit' })).toContainText(reason);
  await expect(jobRow(panel, 'empty')).toHaveCount(0);
});

test('a broken cell is named, and the rest is read', async ({ page, server }) => {
  const cells = notebook([LINEAR, 'def broken(:\n    pass']);
  writeFileSync(join(server.root, 'broken.ipynb'), JSON.stringify(cells));
  await turnTo(page, server, 'broken.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('Cell 2 is not valid Python')).toBeVisible();
  await expect(panel.getByText('Linear', { exact: true })).toBeVisible();
});

test('a link out of the folder is refused', async ({ page, server }) => {
  const outside = join(server.folder, 'outside.ipynb');
  writeFileSync(outside, JSON.stringify(notebook([LINEAR])));
  symlinkSync(outside, join(server.root, 'linked.ipynb'));
  await turnTo(page, server, 'linked.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('lies outside the folder').first()).toBeVisible();
});

test('a notebook of 50 MB is refused', async ({ page, server }) => {
  test.slow();
  const huge = { ...notebook([LINEAR]), metadata: { junk: 'x'.repeat(HUGE_BYTES) } };
  writeFileSync(join(server.root, 'huge.ipynb'), JSON.stringify(huge));
  await turnTo(page, server, 'huge.ipynb');
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
  await openLab(page, server, 'binary.ipynb');
  // JupyterLab says that it cannot load the file, and then asks what to do with the empty tab.
  const dialog = page.locator('.jp-Dialog');
  await dialog.getByRole('button', { name: 'Close' }).click({ timeout: 180_000 });
  await dialog.getByRole('button', { name: /discard/i }).click();
  const panel = await openPanel(page);
  await turnTo(page, server, 'digits_loop.ipynb');
  await expect(panel.getByText('RowReader')).toBeVisible();
});
