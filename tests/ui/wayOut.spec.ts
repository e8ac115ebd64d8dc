/** A training that fits no card here: the sentence, the way out that leads on, and whoever insists; in Chinese as well. */

import { faults } from './axe';
import { SMALL_CARDS } from './cards';
import { expect, jobRow, openLab, openPanel, test, turnTo } from './fixtures';
import { CARD_STATES, furnishCards } from './states/cards';
import { bring, enter, LANGUAGE, PANEL } from './states/panel';

test.use({ serverOptions: { cards: SMALL_CARDS }, sharesPage: true });

/** Words of ours that would stand there in English. */
const ENGLISH = /Estimate|Submit|Jobs|machine|epoch|processor|batch size|fits/;

// First, while there is no job whose own lines are English.
test('panel, server and commands speak Chinese, also of what fits nothing', async ({
  page,
  server
}) => {
  furnishCards(server);
  server.set(LANGUAGE, { locale: 'zh_CN' });
  try {
    await openLab(page, server, 'digits_fit.ipynb');
  } finally {
    server.set(LANGUAGE, { locale: 'default' });
  }
  const panel = await openPanel(page);
  await expect(panel.getByRole('button', { name: '批大小 64, 跳到单元格 9' })).toBeVisible();
  await expect(panel.getByRole('button', { name: '提交 digits_fit.ipynb' })).toBeVisible();
  await expect(panel.getByRole('region', { name: '设备' })).toContainText('GPU');
  await expect(
    page.locator('.jp-NotebookPanel-toolbar').getByRole('button', { name: '提交训练' })
  ).toBeVisible();
  await expect(panel).not.toContainText(ENGLISH);

  await bring({ page, server }, 'wide.ipynb');
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

test('no state beside cards has a fault', async ({ page, server }) => {
  furnishCards(server);
  await enter({ page, server });
  for (const { name, part, reach } of CARD_STATES) {
    await test.step(name, async () => {
      await reach({ page, server });
      expect.soft(await faults(page, part), name).toEqual([]);
    });
  }
});

test('a batch that fits is one click away, and so is to insist', async ({ page, server }) => {
  furnishCards(server);
  await turnTo(page, server, 'wide.ipynb');
  const panel = await openPanel(page);
  const submit = panel.getByRole('region', { name: 'Submit' });
  const refusal = submit.locator('[data-code=fits_nowhere]');
  // The test before has estimated it, where there was one.
  const estimate = panel.locator('.jp-PaddleGpu-invitation button');
  await expect(estimate.or(refusal)).toBeVisible();
  if (await estimate.isVisible()) {
    await estimate.click();
  }
  await expect(refusal).toContainText('the largest card here offers at most 19.9 GiB', {
    timeout: 180_000
  });
  const way = refusal.getByRole('button', { name: /^Batch size \d+$/ });
  await expect(way).toBeVisible({ timeout: 180_000 });
  const batch = /\d+/.exec((await way.textContent()) ?? '')?.[0] ?? '';
  await expect(refusal).toContainText(`Fits with batch size ${batch}`);

  // The way out is asked for, and the training has a card.
  await way.click();
  await expect(panel).toContainText(`with batch ${batch}`);
  await expect(refusal).toBeHidden({ timeout: 180_000 });
  await expect(submit).toContainText('GPU 0');
  await panel.getByRole('button', { name: `Take back: with batch ${batch}` }).click();
  await expect(refusal).toBeVisible({ timeout: 180_000 });

  // Whoever insists gets a job whose row says so.
  await refusal.getByRole('button', { name: 'Submit anyway' }).click();
  await expect(jobRow(panel, 'wide')).toContainText('Submitted anyway: Needs');
});
