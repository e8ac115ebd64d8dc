/** How the pictures of the documentation are taken: theme, language, width, and what of the page is on them. */

import type { Locator, Page } from '@playwright/test';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'fs';
import { join, resolve } from 'path';

import { command, expect, settled, started } from '../fixtures';
import type { LabServer } from '../server';

const ROOT = resolve(__dirname, '..', '..', '..');
const DOCS = join(ROOT, 'docs');
/** Pictures that are taken to be looked at, and that no page shows. */
const OTHERS = resolve(__dirname, '..', 'test-results', 'pictures');

/** Widths of the panel in pixels: as it opens, the narrowest that works, and as a tab beside the notebook. */
export const COMFORTABLE = 360;
export const NARROW = 280;
export const WIDE = 900;
/** What is longer than a window is scrolled, and so it is on the pictures. */
const HIGHEST = 1050;
const LOWEST = 300;

const THEMES = { light: 'Light', dark: 'Dark', contrast: 'Dark High Contrast' };

export async function setTheme(page: Page, theme: keyof typeof THEMES): Promise<void> {
  const name = `JupyterLab ${THEMES[theme]}`;
  await command(page, 'apputils:change-theme', { theme: name });
  await expect(page.locator('body')).toHaveAttribute('data-jp-theme-name', name);
  await settled(page);
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
    await settled(page);
  }
}

/** The pictures that a page shows, by their names. */
function shown(): Set<string> {
  const pages = [
    ...readdirSync(ROOT).map(name => join(ROOT, name)),
    ...readdirSync(DOCS).map(name => join(DOCS, name))
  ].filter(name => name.endsWith('.md'));
  const text = pages.map(name => readFileSync(name, 'utf8')).join('\n');
  return new Set([...text.matchAll(/images\/([\w-]+)\.png/g)].map(([, name]) => name));
}

const SHOWN = shown();

/** Where a picture is kept: among the documents where a page shows it. */
export function fileOf(name: string): string {
  const folder = SHOWN.has(name) ? join(DOCS, 'images') : OTHERS;
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
  }
  return join(folder, `${name}.png`);
}

/**
 * The panel from its head to its foot, no longer than its content and no longer than a window: from its beginning, or
 * its end.
 */
export async function picture(
  page: Page,
  panel: Locator,
  name: string,
  end = false
): Promise<void> {
  const above = (await panel.boundingBox())?.y ?? 0;
  const needed = await panel.evaluate(node => {
    const [head, body, foot] = ['head', 'body', 'foot'].map(part =>
      node.querySelector(`.jp-PaddleGpu-panel > .jp-PaddleGpu-${part}`)
    );
    const top = body?.getBoundingClientRect().top ?? 0;
    // In two columns the last one is not the lowest.
    const ends = [...(body?.children ?? [])].map(one => one.getBoundingClientRect().bottom);
    const end = Math.max(top, ...ends);
    const content = end - top + (body?.scrollTop ?? 0);
    return [head, foot].reduce((sum, part) => sum + (part?.clientHeight ?? 0) + 1, content);
  });
  // A frame around what has the keyboard says nothing on a picture.
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  // Below the panel there is the status bar.
  const height = Math.ceil(above + needed + 30);
  await page.setViewportSize({
    width: 1400,
    height: Math.min(HIGHEST, Math.max(LOWEST, height))
  });
  await panel.locator('.jp-PaddleGpu-body').evaluate((node, end) => {
    node.scrollTop = end ? node.scrollHeight : 0;
  }, end);
  await page.mouse.move(500, 5);
  await page.waitForTimeout(500);
  await panel.screenshot({ path: fileOf(name) });
  await page.setViewportSize({ width: 1400, height: HIGHEST });
}

/** The whole window. */
export async function wholePage(page: Page, name: string): Promise<void> {
  await page.mouse.move(500, 5);
  await page.waitForTimeout(500);
  await page.screenshot({ path: fileOf(name) });
}

/** The same in both themes; light stays. Names are `<what>-<theme>-<language>.png`. */
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

/** Set the language of the interface; it is taken by the next page that is loaded. */
export async function setLanguage(
  page: Page,
  server: LabServer,
  locale: string
): Promise<void> {
  await page.goto(`${server.url}/lab`);
  await started(page);
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
