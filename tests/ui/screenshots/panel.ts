/**
 * Takes the pictures in docs/images: the panel empty, with an estimate, running, failed, done; light and dark, English
 * and Chinese, narrow; the job's view. Run by `jlpm screenshots`; nothing is compared with them.
 */

import { expect, jobRow, openNotebook, openPanel, test } from '../fixtures';
import {
  both,
  COMFORTABLE,
  IMAGES,
  jobPicture,
  NARROW,
  picture,
  setLanguage,
  setWidth
} from './pictures';

// An announcement would lie over the jobs.
test.use({ serverOptions: { settings: { 'jupyter-paddle-gpu:plugin': { notify: false } } } });

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test.describe(`pictures in ${language}`, () => {
    test(`panel and job view ${language}`, async ({ page, server }) => {
      test.setTimeout(300_000);
      await setLanguage(page, server, language);
      await openNotebook(page, server, 'digits_loop.ipynb');
      const panel = await openPanel(page);
      await setWidth(page, panel, COMFORTABLE);
      await expect(panel.locator('.jp-PaddleGpu-model')).toBeVisible();
      const panelPicture = (name: string) => picture(page, panel, name);
      const listPicture = (name: string) => jobPicture(page, panel, name);
      const wholePage = async (name: string) => {
        await page.screenshot({ path: `${IMAGES}/${name}.png` });
      };
      await both(page, 'empty', short, panelPicture);

      await panel.locator('.jp-PaddleGpu-invitation button').click();
      await expect(panel.locator('.jp-PaddleGpu-remedies')).toBeVisible({ timeout: 120_000 });
      await both(page, 'estimate', short, panelPicture);
      if (language === 'en') {
        await setWidth(page, panel, NARROW);
        await panelPicture('narrow-light-en');
        await setWidth(page, panel, COMFORTABLE);
      }

      await page
        .locator('.jp-NotebookPanel-toolbar [data-command="paddle-gpu:submit"]')
        .click();
      const row = jobRow(panel, 'digits_loop');
      await expect(row.getByRole('log')).toContainText('epoch 2/4', { timeout: 120_000 });
      await both(page, 'running', short, listPicture);
      await expect(row).toHaveAttribute('data-state', 'succeeded', { timeout: 120_000 });
      await both(page, 'jobs', short, listPicture);
      await panel.locator('h1').scrollIntoViewIfNeeded();
      await both(page, 'done', short, wholePage);

      await row.locator('.jp-PaddleGpu-jobName').click();
      const view = page.locator('.jp-PaddleGpu-view');
      await expect(view.getByRole('log')).toContainText('epoch 4/4');
      await page.waitForTimeout(500);
      await both(page, 'job', short, wholePage);
      await view.getByRole('tab').nth(2).click();
      await page.waitForTimeout(500);
      await wholePage(`memory-light-${short}`);

      await openNotebook(page, server, 'wine_broken.ipynb');
      await openPanel(page);
      await setWidth(page, panel, COMFORTABLE);
      await page
        .locator('.jp-NotebookPanel-toolbar [data-command="paddle-gpu:submit"]')
        .click();
      const failed = jobRow(panel, 'wine_broken');
      // The new one, which shows its log, not one of another language.
      await expect(failed.getByRole('log')).toBeVisible();
      await expect(failed).toHaveAttribute('data-state', 'failed', { timeout: 90_000 });
      await both(page, 'failed', short, listPicture);
    });
  });
}
