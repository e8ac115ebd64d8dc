/** Live cards, a question answered in place, what-if, and what a job used: with a stand-in for NVML's library. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { CARDS_LATER, tagger, WITH_CARDS } from './cards';
import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';

test.use(WITH_CARDS);

test('a question is answered, the cards say where it fits, and the job draws its use', async ({
  page,
  server
}) => {
  writeFileSync(join(server.root, 'tagger.ipynb'), JSON.stringify(tagger(64, 64, 0.5)));
  await openNotebook(page, server, 'tagger.ipynb');
  const panel = await openPanel(page);
  const memory = panel.getByRole('region', { name: 'Memory of one training step' });
  const fits = panel.getByRole('region', { name: 'Devices' });
  const card = (name: string) => fits.locator('.jp-PaddleGpu-device').filter({ hasText: name });

  // Before any estimate: each card as it is, the lost one with what to do.
  await expect(card('GPU 0')).toContainText('60.0 GiB of 80.0 GiB free');
  await expect(card('GPU 2')).toContainText('does not answer');
  await expect(card('RTX 4090')).toContainText('Simulated 0');

  // What is missing is asked for in place.
  await memory.getByRole('button', { name: 'Estimate' }).click();
  const answer = panel.getByRole('textbox', { name: 'vocab_size' });
  await expect(panel.getByText('vocab_size is computed from data')).toBeVisible({
    timeout: 180_000
  });
  await answer.fill('200000');
  await answer.press('Enter');
  const big = memory.locator('.jp-PaddleGpu-big');
  await expect(big).toHaveText(/GiB$/, { timeout: 180_000 });
  await expect(memory.getByRole('img', { name: /Memory over one step/ })).toBeVisible();
  await expect(memory).toContainText('vocab_size = 200000');

  // One verdict a card, with its reason and who holds the memory.
  await expect(card('GPU 0')).toHaveAttribute('data-fit', 'fits');
  await expect(card('GPU 0')).toContainText('chosen');
  await expect(card('GPU 1')).toHaveAttribute('data-fit', 'short');
  await expect(card('GPU 1').getByTitle(/79.0 GiB/)).toBeVisible();
  await expect(card('GPU 2')).toHaveAttribute('data-fit', 'unknown');
  await expect(card('GPU 2').getByText('does not answer')).toHaveCount(1);

  // The other user leaves: the row follows by itself.
  server.setCards(CARDS_LATER);
  await expect(
    card('GPU 1').getByRole('img', { name: '0 B of 80.0 GiB in use' })
  ).toBeVisible();

  // What if: longer sequences, by keyboard, and back. What would help is still being computed, and is not waited for.
  const before = await big.textContent();
  await panel.getByRole('button', { name: 'more, what if…' }).click();
  await panel.getByLabel('Sequence length').fill('1024');
  await panel.getByLabel('Sequence length').press('Enter');
  await expect(memory).toContainText('with sequences of length 1024');
  await expect(big).not.toHaveText(before ?? '', { timeout: 180_000 });
  await memory
    .getByRole('button', { name: 'Take back: with sequences of length 1024' })
    .click();
  await expect(big).toHaveText(before ?? '', { timeout: 180_000 });

  // The job gets the answer, and draws what it uses while it runs.
  await submitButton(panel).click();
  const row = jobRow(panel, 'tagger');
  await row.getByRole('button', { name: 'tagger', exact: true }).click();
  const view = page.locator('.jp-PaddleGpu-view');
  const values = view.getByRole('slider', { name: /^Host memory over/ });
  await expect(values).toBeVisible({ timeout: 180_000 });
  await values.focus();
  await page.keyboard.press('Home');
  await expect(values).toHaveAttribute(
    'aria-valuetext',
    /^[\d.]+ s, Host memory [\d.]+ [MG]iB$/
  );
});
