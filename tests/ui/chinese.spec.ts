/** The interface in Simplified Chinese, by JupyterLab's own setting, also where a training fits nothing. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { faults } from './axe';
import { SMALL_CARDS, wide } from './cards';
import { expect, openNotebook, openPanel, test } from './fixtures';

const PANEL = '#jp-PaddleGpu-panel';
/** Words of ours that would stand there in English. */
const ENGLISH = /Estimate|Submit|Jobs|machine|epoch|processor|batch size|fits/;

test.use({
  serverOptions: {
    cards: SMALL_CARDS,
    settings: { '@jupyterlab/translation-extension:plugin': { locale: 'zh_CN' } }
  }
});

test('panel, server and commands speak it', async ({ page, server }) => {
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByRole('button', { name: '批大小 64，转到单元格 9' })).toBeVisible();
  await expect(panel.getByRole('button', { name: '提交 digits_fit.ipynb' })).toBeVisible();
  await expect(panel.getByRole('region', { name: '设备' })).toContainText('GPU');
  await expect(
    page.locator('.jp-NotebookPanel-toolbar').getByRole('button', { name: '提交训练' })
  ).toBeVisible();
  await expect(panel).not.toContainText(ENGLISH);
  expect(await faults(page, PANEL)).toEqual([]);
});

test('what fits nothing is refused in it, with its ways out', async ({ page, server }) => {
  writeFileSync(join(server.root, 'wide.ipynb'), JSON.stringify(wide()));
  await openNotebook(page, server, 'wide.ipynb');
  const panel = await openPanel(page);
  await panel.locator('.jp-PaddleGpu-invitation button').click();
  const submit = panel.getByRole('region', { name: '提交' });
  const refusal = submit.locator('[data-code=fits_nowhere]');
  await expect(refusal.getByRole('button', { name: /^批大小 \d+$/ })).toBeVisible();
  await expect(panel).not.toContainText(ENGLISH);
  expect(await faults(page, PANEL)).toEqual([]);
  await submit.getByRole('button', { name: '更改…' }).press('Enter');
  const dialog = page.locator('.jp-Dialog-content');
  await expect(dialog).toBeVisible();
  await expect(dialog).not.toContainText(ENGLISH);
  expect(await faults(page, '.jp-Dialog-content')).toEqual([]);
});
