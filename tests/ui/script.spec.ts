/** A Python script is estimated and submitted from where it lies: the file browser and its editor. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { expect, jobRow, openPanel, test, turnTo } from './fixtures';

const SCRIPT = `import paddle

net = paddle.nn.Linear(64, 10)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(5):
    loss = net(paddle.rand([32, 64])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print("trained", step)
`;

test.use({ sharesPage: true });

test('a script is estimated and run', async ({ page, server }) => {
  writeFileSync(join(server.root, 'train.py'), SCRIPT);
  await turnTo(page, server, 'empty.ipynb');
  const panel = await openPanel(page);

  // From the file browser, whose listing has had the script from the start: a menu that is open while the listing comes
  // anew would lose the click. The notebook stays where it is.
  // A click that JupyterLab's menu loses is made again.
  await expect(async () => {
    await page.keyboard.press('Escape');
    await page
      .locator('.jp-DirListing-item', { hasText: 'train.py' })
      .click({ button: 'right' });
    const item = page.getByRole('menuitem', { name: 'Estimate training memory' });
    await expect(async () => {
      // JupyterLab's menus know the item below the mouse by its movement: one that is made while they open is lost.
      await page.mouse.move(0, 0);
      await item.hover();
      await expect(item).toHaveClass(/lm-mod-active/, { timeout: 1_000 });
    }).toPass();
    await item.click();
    await expect(panel.getByRole('heading', { name: 'train.py' })).toBeVisible({
      timeout: 10_000
    });
  }).toPass();
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await panel.getByRole('button', { name: 'Back to empty.ipynb' }).click();
  await expect(panel.locator('.jp-PaddleGpu-big')).toHaveCount(0);

  // From its editor, with what is not saved.
  await page.locator('.jp-DirListing-item', { hasText: 'train.py' }).dblclick();
  const editor = page.locator('.jp-FileEditor .cm-content');
  await expect(editor).toContainText('trained');
  await page.getByText('"trained"').click();
  await page.keyboard.press('End');
  await page.keyboard.type('\nprint("not saved")');
  await editor.click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Submit training' }).click();
  const row = jobRow(panel, 'train');
  await expect(row).toHaveAttribute('data-state', 'succeeded', { timeout: 180_000 });
  await expect(row.getByRole('log')).toContainText('not saved');
});
