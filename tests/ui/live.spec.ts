/** A model that lives in the notebook's kernel is estimated as it is there; the kernel notices nothing. */

import { expect, openPanel, test, turnTo } from './fixtures';

test.use({ sharesPage: true });

test('a model in the kernel is estimated from there', async ({ page, server }) => {
  await turnTo(page, server, 'digits_loop.ipynb');
  const panel = await openPanel(page);
  const memory = panel.getByRole('region', { name: 'Memory of one training step' });
  await expect(memory.getByRole('group', { name: 'In the kernel' })).toHaveCount(0);

  // All that comes before the training, once there is a kernel: without one JupyterLab would ask which.
  await expect(page.getByText('Python 3 (ipykernel) | Idle')).toBeVisible({ timeout: 180_000 });
  await page.locator('.jp-Notebook .jp-Cell', { hasText: 'history = []' }).click();
  await page.getByRole('menuitem', { name: 'Run', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Run All Above Selected Cell' }).click();
  const models = memory.getByRole('group', { name: 'In the kernel' });
  await expect(models.getByRole('button')).not.toHaveCount(0, { timeout: 180_000 });
  const prompts = page.locator('.jp-NotebookPanel:visible .jp-InputArea-prompt');
  const counted = await prompts.allTextContents();

  await models.getByRole('button').last().click();
  await expect(memory.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await expect(memory.getByText('in the kernel', { exact: false }).first()).toBeVisible();
  expect(await prompts.allTextContents()).toEqual(counted);

  // Pressed again, the estimate is of the notebook's cells.
  await models.getByRole('button', { pressed: true }).click();
  await expect(models.getByRole('button', { pressed: true })).toHaveCount(0);
  await expect(memory.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });

  // A kernel that begins anew holds none.
  await page.getByRole('menuitem', { name: 'Kernel', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Restart Kernel…/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Confirm Kernel Restart' })
    .click();
  await expect(memory.getByRole('group', { name: 'In the kernel' })).toHaveCount(0, {
    timeout: 60_000
  });
});
