/** A training that fits no card here: the sentence, the way out that leads on, and whoever insists. */

import { faults } from './axe';
import { SMALL_CARDS } from './cards';
import { expect, jobRow, openNotebook, openPanel, test } from './fixtures';
import { CARD_STATES, furnishCards } from './states/cards';
import { enter } from './states/panel';

test.use({ serverOptions: { cards: SMALL_CARDS } });

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
  await openNotebook(page, server, 'wide.ipynb');
  const panel = await openPanel(page);
  const submit = panel.getByRole('region', { name: 'Submit' });
  await panel.locator('.jp-PaddleGpu-invitation button').click();
  const refusal = submit.locator('[data-code=fits_nowhere]');
  await expect(refusal).toContainText('the largest card here offers at most 20.4 GiB', {
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
  await expect(panel.getByText('Computing what would help')).toBeHidden({ timeout: 180_000 });
  await panel.getByRole('button', { name: `Take back: with batch ${batch}` }).click();
  await expect(refusal).toBeVisible({ timeout: 180_000 });

  // Whoever insists gets a job whose row says so.
  await refusal.getByRole('button', { name: 'Submit anyway' }).click();
  await expect(jobRow(panel, 'wide')).toContainText('Submitted anyway: Needs');
});
