/** How the pictures of the documentation are taken: theme, language, width, and what of the page is on them. */

import type { Locator, Page } from '@playwright/test';
import { resolve } from 'path';

import { expect } from '../fixtures';
import type { LabServer } from '../server';

export const IMAGES = resolve(__dirname, '..', '..', '..', 'docs', 'images');

/** Widths of the panel in pixels, as one would draw it, and the narrowest that works. */
export const COMFORTABLE = 360;
export const NARROW = 260;
/** How much of a long panel a picture shows. */
const HIGHEST = 1_150;

type Theme = 'light' | 'dark';

export async function setTheme(page: Page, theme: Theme): Promise<void> {
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
export async function setWidth(page: Page, panel: Locator, width: number): Promise<void> {
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

export async function picture(page: Page, panel: Locator, name: string): Promise<void> {
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
export async function both(
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

/** The list of jobs alone. */
export async function jobPicture(page: Page, panel: Locator, name: string): Promise<void> {
  const jobs = panel.locator('section').last();
  await jobs.scrollIntoViewIfNeeded();
  await page.mouse.move(500, 5);
  await page.waitForTimeout(400);
  await jobs.screenshot({ path: `${IMAGES}/${name}.png` });
}

/** Set the language of the interface; it is taken by the next page that is loaded. */
export async function setLanguage(
  page: Page,
  server: LabServer,
  locale: string
): Promise<void> {
  await page.goto(`${server.url}/lab`);
  await page.evaluate(async wanted => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        serviceManager: { settings: { save(id: string, raw: string): Promise<void> } };
      };
    };
    await jupyterapp.serviceManager.settings.save(
      '@jupyterlab/translation-extension:plugin',
      JSON.stringify({ locale: wanted })
    );
  }, locale);
}
