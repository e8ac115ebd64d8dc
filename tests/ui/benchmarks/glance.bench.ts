/** What a look at the panel has to take in, in a window of 900 pixels: words, and how far down Submit and a job stand. */

import type { Locator, Page } from '@playwright/test';

import { glance } from '../axe';
import { CARDS } from '../cards';
import { expect, jobRow, openNotebook, openPanel, submitButton, test } from '../fixtures';
import { COMFORTABLE, NARROW, setWidth } from '../screenshots/pictures';
import { LabServer } from '../server';
import { save } from './measure';

test('words and pixels of the panel', async ({ page, server }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  const figures = { no_card: { ...(await before(page, server)), running: await during(page, server) } };
  const cards = new LabServer({ cards: CARDS });
  await cards.start();
  try {
    save('at_a_glance', {
      window_height: 900,
      ...figures,
      three_cards: { ...(await before(page, cards)), running: await during(page, cards) }
    });
  } finally {
    await cards.dispose();
  }
});

/** Before an estimate, and after it. */
async function before(page: Page, server: LabServer): Promise<object> {
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await expect(panel.locator('.jp-PaddleGpu-model')).toBeVisible();
  const opened = await look(page, panel);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await expect(panel.locator('.jp-PaddleGpu-busy, .jp-PaddleGpu-spinner')).toHaveCount(0);
  return { opened, estimated: await look(page, panel) };
}

/** While a job runs. */
async function during(page: Page, server: LabServer): Promise<object> {
  await openNotebook(page, server, 'digits_loop.ipynb');
  const panel = await openPanel(page);
  await submitButton(panel).click();
  const row = jobRow(panel, 'digits_loop');
  await expect(row.getByRole('log')).toContainText('epoch', { timeout: 180_000 });
  await expect(row).toHaveAttribute('data-state', 'running');
  return look(page, panel);
}

async function look(page: Page, panel: Locator): Promise<object> {
  const seen: Record<string, object> = {};
  for (const width of [COMFORTABLE, NARROW]) {
    await setWidth(page, panel, width);
    seen[`${width} pixels wide`] = await glance(panel);
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  return seen;
}
