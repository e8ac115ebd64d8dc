/**
 * What a look at the panel has to take in, in a window of 900 pixels: words, and how far down Submit and a job stand, in
 * both languages, at three widths, without a card and beside three.
 */

import type { Page } from '@playwright/test';

import { glance } from '../axe';
import { CARDS } from '../cards';
import { expect, openNotebook, openPanel, test } from '../fixtures';
import { COMFORTABLE, NARROW, setWidth } from '../screenshots/pictures';
import { LabServer } from '../server';
import { LANGUAGE, PANEL } from '../states/panel';
import { save } from './measure';

/** The last one is that of the panel's first form, which was no narrower. */
const WIDTHS = [NARROW, COMFORTABLE, 400];
const WORLDS = { no_card: undefined, three_cards: CARDS };
const TRACED = 180_000;

test('words and pixels of the panel', async ({ page }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  const figures: Record<string, Record<string, object>> = { no_card: {}, three_cards: {} };
  for (const [world, cards] of Object.entries(WORLDS)) {
    for (const locale of ['en', 'zh_CN']) {
      // Each on a server of its own: jobs of the one before would stand in the next one's panel.
      const server = new LabServer({ cards, settings: { [LANGUAGE]: { locale } } });
      await server.start();
      try {
        figures[world][locale] = await looks(page, server);
      } finally {
        await server.dispose();
      }
    }
  }
  save('at_a_glance', { window_height: 900, ...figures });
});

/** Before an estimate, after it, and while a job of a notebook that was estimated runs. */
async function looks(page: Page, server: LabServer): Promise<object> {
  await openNotebook(page, server, 'digits_fit.ipynb');
  await openPanel(page);
  await expect(page.locator(`${PANEL} .jp-PaddleGpu-model`)).toBeVisible();
  const opened = await look(page);
  await estimate(page);
  const estimated = await look(page);
  await openNotebook(page, server, 'digits_loop.ipynb');
  await openPanel(page);
  await estimate(page);
  await page.locator(`${PANEL} .jp-PaddleGpu-submit button`).first().click();
  const row = page.locator(`${PANEL} .jp-PaddleGpu-job`).first();
  await expect(row.getByRole('log')).toContainText('epoch', { timeout: TRACED });
  await expect(row).toHaveAttribute('data-state', 'running');
  return { opened, estimated, running: await look(page) };
}

async function estimate(page: Page): Promise<void> {
  await page.locator(`${PANEL} .jp-PaddleGpu-invitation button`).click();
  await expect(page.locator(`${PANEL} .jp-PaddleGpu-big`)).toBeVisible({ timeout: TRACED });
  const busy = page.locator(`${PANEL} .jp-PaddleGpu-busy, ${PANEL} .jp-PaddleGpu-spinner`);
  await expect(busy).toHaveCount(0, { timeout: TRACED });
}

async function look(page: Page): Promise<object> {
  const panel = page.locator(PANEL);
  const seen: Record<string, object> = {};
  for (const width of WIDTHS) {
    await setWidth(page, panel, width);
    seen[`${width} pixels wide`] = await glance(panel);
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  return seen;
}
