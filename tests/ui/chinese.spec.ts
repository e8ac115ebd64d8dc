/** The interface in Simplified Chinese, by JupyterLab's own setting. */

import { expect, openNotebook, openPanel, test } from './fixtures';

test.use({
  serverOptions: {
    settings: { '@jupyterlab/translation-extension:plugin': { locale: 'zh_CN' } }
  }
});

test('panel, server and commands speak it', async ({ page, server }) => {
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByRole('button', { name: '批大小 64，转到单元 9' })).toBeVisible();
  await expect(panel.getByRole('button', { name: '提交 digits_fit.ipynb' })).toBeVisible();
  await expect(panel.getByRole('region', { name: '设备' })).toContainText('GPU');
  await expect(
    page.locator('.jp-NotebookPanel-toolbar').getByRole('button', { name: '提交训练' })
  ).toBeVisible();
  // No English sentence of ours is left.
  await expect(panel).not.toContainText(/Estimate|Submit|Jobs|machine|epoch|processor/);
});
