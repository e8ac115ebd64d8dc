/** Advice that acts: shown as a difference, written into the notebook, taken back by Ctrl+Z. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { expect, openPanel, submitButton, test, turnTo } from './fixtures';
import { notebook } from './server';

const LOOP = `import paddle
paddle.set_device('gpu')
net = paddle.nn.Linear(64, 64)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    loss = net(paddle.rand([256, 64])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()`;

test.use({ sharesPage: true });

test('a difference is shown, written, and taken back', async ({ page, server }) => {
  test.slow();
  writeFileSync(join(server.root, 'advice.ipynb'), JSON.stringify(notebook([LOOP])));
  await turnTo(page, server, 'advice.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const stops = panel.getByText('On the CPU the notebook would stop in cell 1, line 2');
  await expect(stops).toBeVisible({ timeout: 180_000 });
  await panel.getByRole('button', { name: 'Take the CPU there' }).click();
  await expect(panel.getByText("+paddle.set_device('cpu')")).toBeVisible();
  await expect(stops).toBeHidden();
  await panel.getByRole('button', { name: 'more, what if…' }).click({ timeout: 180_000 });
  await panel.getByLabel('Gradients between steps').selectOption({ label: 'freed' });
  await panel.getByRole('button', { name: 'Estimate with these' }).click();
  const added = panel.getByText('+    opt.clear_grad(set_to_zero=False)');
  await expect(added).toBeVisible({ timeout: 120_000 });
  // However much stands above it, Submit is in view.
  await page.setViewportSize({ width: 900, height: 560 });
  await expect(submitButton(panel)).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 1400, height: 1000 });
  const cell = page.locator('.jp-NotebookPanel .jp-Cell').first();
  await expect(cell).not.toContainText('set_to_zero');
  await panel.getByRole('button', { name: 'Write into the notebook' }).click();
  await expect(cell).toContainText('opt.clear_grad(set_to_zero=False)');
  await expect(added).toBeHidden();
  await cell.locator('.cm-content').click();
  await page.keyboard.press('Control+z');
  await expect(cell).not.toContainText('set_to_zero');
  await expect(cell).toContainText('opt.clear_grad()');
});
