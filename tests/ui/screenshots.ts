/**
 * Takes the pictures in docs/images: the panel empty, with an estimate, running, failed, done; light and dark, English
 * and Chinese, narrow; the job's view. Run by `jlpm screenshots`; nothing is compared with them.
 */

import type { Locator, Page } from '@playwright/test';
import { resolve } from 'path';

import { expect, jobRow, openNotebook, openPanel, test } from './fixtures';

const IMAGES = resolve(__dirname, '..', '..', 'docs', 'images');
// An announcement would lie over the jobs.
test.use({ serverOptions: { settings: { 'jupyter-paddle-gpu:plugin': { notify: false } } } });

/** Widths of the panel in pixels, as one would draw it, and the narrowest that works. */
const COMFORTABLE = 360;
const NARROW = 260;
/** How much of a long panel a picture shows. */
const HIGHEST = 1_150;

type Theme = 'light' | 'dark';

async function setTheme(page: Page, theme: Theme): Promise<void> {
  await page.evaluate(
    async name => {
      const { jupyterapp } = window as unknown as {
        jupyterapp: { commands: { execute(id: string, args: object): Promise<void> } };
      };
      await jupyterapp.commands.execute('apputils:change-theme', { theme: name });
    },
    `JupyterLab ${theme === 'dark' ? 'Dark' : 'Light'}`
  );
  await expect(page.locator('body')).toHaveAttribute(
    'data-jp-theme-light',
    theme === 'dark' ? 'false' : 'true'
  );
  // Colours fade over.
  await page.waitForTimeout(500);
}

/** Draw the panel as wide as a person would, by the handle beside it. */
async function setWidth(page: Page, panel: Locator, width: number): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const box = await panel.boundingBox();
    if (!box || Math.abs(box.width - width) < 2) {
      return;
    }
    const y = box.y + 300;
    await page.mouse.move(box.x - 3, y);
    await page.mouse.down();
    await page.mouse.move(box.x - 3 + (box.width - width), y, { steps: 4 });
    await page.mouse.up();
    await page.waitForTimeout(300);
  }
}

async function picture(page: Page, panel: Locator, name: string): Promise<void> {
  // The whole length of the panel, as far as it has content.
  const needed = await panel.evaluate(
    node => (node.querySelector('.jp-PaddleGpu-panel')?.scrollHeight ?? 0) + 80
  );
  await page.setViewportSize({ width: 1400, height: Math.min(HIGHEST, Math.max(500, needed)) });
  await page.mouse.move(500, 5);
  await page.waitForTimeout(400);
  const content = panel.locator('.jp-PaddleGpu-panel');
  const box = await content.boundingBox();
  const outer = await panel.boundingBox();
  if (box && outer) {
    await page.screenshot({
      path: `${IMAGES}/${name}.png`,
      clip: { ...outer, height: Math.min(outer.height, box.height + 8) }
    });
  }
  await page.setViewportSize({ width: 1400, height: 1000 });
}

/** The same in dark and in light; light stays. Names are `<what>-<theme>-<language>.png`. */
async function both(
  page: Page,
  what: string,
  language: string,
  take: (name: string) => Promise<void>
): Promise<void> {
  for (const theme of ['dark', 'light'] as const) {
    await setTheme(page, theme);
    await take(`${what}-${theme}-${language}`);
  }
}

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test.describe(`pictures in ${language}`, () => {
    test(`panel and job view ${language}`, async ({ page, server }) => {
      test.setTimeout(300_000);
      await page.goto(`${server.url}/lab`);
      await page.evaluate(async locale => {
        const { jupyterapp } = window as unknown as {
          jupyterapp: {
            serviceManager: { settings: { save(id: string, raw: string): Promise<void> } };
          };
        };
        await jupyterapp.serviceManager.settings.save(
          '@jupyterlab/translation-extension:plugin',
          JSON.stringify({ locale })
        );
      }, language);
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
      await view.getByRole('tab').nth(1).click();
      await page.waitForTimeout(1_000);
      await wholePage(`metrics-light-${short}`);
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

/** The list of jobs alone. */
async function jobPicture(page: Page, panel: Locator, name: string): Promise<void> {
  const jobs = panel.locator('section').last();
  await jobs.scrollIntoViewIfNeeded();
  await page.mouse.move(500, 5);
  await page.waitForTimeout(400);
  await jobs.screenshot({ path: `${IMAGES}/${name}.png` });
}
