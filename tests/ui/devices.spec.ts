/** Live cards, a question answered in place, what-if, what a job used, the dialog by keys: with a stand-in for NVML's library. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { CARDS_LATER, tagger, WITH_CARDS } from './cards';
import { expect, jobRow, openNotebook, openPanel, submitButton, tabTo, test } from './fixtures';

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
  await expect(panel.getByText('vocab_size is computed from')).toBeVisible({
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
  await expect(memory).toContainText('with sequences of length 1,024');
  await expect(big).not.toHaveText(before ?? '', { timeout: 180_000 });
  await memory
    .getByRole('button', { name: 'Take back: with sequences of length 1,024' })
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

test('every field of the submit dialog is operated by keys alone', async ({ page, server }) => {
  // The dialog is opened before the engines are known: their devices come then.
  let answer: () => void = () => undefined;
  const held = new Promise<void>(resolve => (answer = resolve));
  await page.route(/\/api\/engines$/, async route => {
    await held;
    await route.continue();
  });
  await openNotebook(page, server, 'digits_loop.ipynb');
  const panel = await openPanel(page);
  const foot = panel.getByRole('region', { name: 'Submit' });
  const change = foot.getByRole('button', { name: 'Change…' });
  await change.focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator('.jp-Dialog');
  await expect(dialog.getByRole('radio', { name: 'CPU' })).toBeVisible();
  answer();
  await expect(dialog.getByRole('checkbox', { name: /^GPU 0/ })).toBeVisible();

  // Round once: from above to below, each with a ring around it, and never out of the dialog.
  const first = dialog.getByRole('radio', { checked: true }).first();
  await tabTo(page, first);
  const stops: { top: number; name: string; ringed: boolean }[] = [];
  do {
    stops.push(await page.evaluate(focused));
    await page.keyboard.press('Tab');
  } while (
    stops.length < 60 &&
    !(await first.evaluate(node => node === document.activeElement))
  );
  expect(stops.filter(({ ringed }) => !ringed)).toEqual([]);
  const tops = stops.map(({ top }) => top);
  expect(tops).toEqual([...tops].sort((one, other) => one - other));

  // The devices: radios by arrows, a bar by the space bar.
  const best = dialog.getByRole('radio', { name: 'The best that fits' });
  await tabTo(page, best);
  await page.keyboard.press('ArrowDown');
  await expect(dialog.getByRole('radio', { name: 'CPU' })).toBeChecked();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  const card = dialog.getByRole('checkbox', { name: /^GPU 0/ });
  await expect(card).toBeFocused();
  await expect(card).toBeChecked();

  // Amounts, lists and lines; Enter in several lines is a new line, not a submit.
  await tabTo(page, dialog.getByLabel('Time at most, hours'));
  await page.keyboard.type('2');
  await tabTo(page, dialog.getByLabel('Priority'));
  await page.keyboard.press('ArrowUp');
  await expect(dialog.getByLabel('Priority')).toHaveValue('10');
  const lines = dialog.getByLabel(/^Environment/);
  await tabTo(page, lines);
  await page.keyboard.type('SEED=7');
  await page.keyboard.press('Enter');
  await page.keyboard.type('DEPTH=3');
  await expect(lines).toHaveValue('SEED=7\nDEPTH=3');
  const result = dialog.getByLabel('When it is done');
  await tabTo(page, result);
  await page.keyboard.press('ArrowDown');
  await expect(result).toHaveValue('open');

  // When: what a way asks for comes next, and keeps the focus where it is.
  await tabTo(page, dialog.getByRole('radio', { name: 'at once' }));
  await page.keyboard.press('ArrowDown');
  await expect(dialog.getByRole('radio', { name: 'at a time' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(dialog.getByRole('radio', { name: 'again and again' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(dialog.getByLabel('How often')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(dialog.getByRole('status').first()).toContainText('next:');
  await page.keyboard.press('Tab');
  const cron = dialog.getByLabel(/^Cron expression/);
  await expect(cron).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('0 25 * * *');
  await expect(dialog.getByRole('status').first()).toContainText('25');

  // Escape keeps nothing; kept is what stands in the foot. The focus comes back both times.
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(change).toBeFocused();
  await expect(foot).not.toContainText('SEED');
  await page.keyboard.press('Enter');
  await tabTo(page, card);
  await page.keyboard.press('Space');
  await tabTo(page, dialog.getByRole('button', { name: 'Keep' }));
  await page.keyboard.press('Enter');
  await expect(foot).toContainText('GPU 0');
  await expect(change).toBeFocused();
});

/** In the page: what has the focus, how far down it is, and whether one sees that. */
function focused(): { top: number; name: string; ringed: boolean } {
  const node = document.activeElement as HTMLElement;
  const { outlineStyle, boxShadow, borderColor } = getComputedStyle(node);
  const plain = node.cloneNode() as HTMLElement;
  // Of radios of one name only one is checked: the copy would take that from the original.
  plain.removeAttribute('name');
  node.after(plain);
  const unfocused = getComputedStyle(plain).borderColor;
  plain.remove();
  const own = node.getBoundingClientRect();
  // Buttons lie side by side beneath the form.
  const row = node.closest('.jp-Dialog-footer')?.getBoundingClientRect() ?? own;
  const scrolled = node.closest('.jp-Dialog-body')?.scrollTop ?? 0;
  return {
    top: Math.round(row.top + scrolled),
    name: (node.closest('label') ?? node).textContent?.slice(0, 40) ?? node.tagName,
    ringed:
      !!node.closest('.jp-Dialog') &&
      (outlineStyle !== 'none' || boxShadow !== 'none' || borderColor !== unfocused)
  };
}
