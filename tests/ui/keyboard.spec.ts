/** The whole walk by keyboard alone: from a notebook's name to its executed copy. */

import type { Page } from '@playwright/test';
import { readFileSync, writeFileSync } from 'fs';
import { join } from 'path';

import { glance } from './axe';
import { expect, jobRow, openLab, submitButton, tabTo, test } from './fixtures';
import type { LabServer } from './server';

const PANEL = '#jp-PaddleGpu-panel';

/** So that what is looked at for long leaves the processor to those who look. */
const REST = `

class Rest(paddle.callbacks.Callback):
    def on_train_batch_end(self, step, logs=None):
        import time

        time.sleep(0.2 if EPOCHS > 1 else 0)

`;

/** As many images as nobody has to read: of what a split gives, images and labels to train on and to test. */
const IMAGES = `def some(count):
    return np.random.rand(count, 8, 8), np.arange(count) % 10


parts = [part for pair in zip(some(960), some(128)) for part in pair]`;

/** A layer's width comes from a file that is not here, and it trains for longer than anybody waits. */
function writeNotebook(server: LabServer): void {
  const notebook = JSON.parse(readFileSync(join(server.root, 'digits_fit.ipynb'), 'utf8')) as {
    cells: { source: string[] }[];
  };
  for (const cell of notebook.cells) {
    const source = cell.source
      .join('')
      // Without packages whose import takes longer than this training.
      .replace(/^from sklearn.*$/gm, '')
      .replace(/^digits = load_digits[^]*?\n(?=train_set)/m, `${IMAGES}\n`)
      .replace(/^import matplotlib[^]*/, 'print("eight of them")')
      .replace(
        'class DigitNet',
        'import json\n\nHIDDEN = len(json.load(open("captions.json")))\n\n\nclass DigitNet'
      )
      .replace('nn.Linear(64 * 8 * 8, 128)', 'nn.Linear(64 * 8 * 8, HIDDEN)')
      .replace('nn.Linear(128, classes)', 'nn.Linear(HIDDEN, classes)')
      .replace('BATCH_SIZE = 64', `BATCH_SIZE = 64\nEPOCHS = 200\n${REST}`)
      .replace('epochs=3', 'epochs=EPOCHS, callbacks=[Rest()]');
    cell.source = [source];
  }
  writeFileSync(join(server.root, 'walked.ipynb'), JSON.stringify(notebook));
}

/** Whether the keyboard is where somebody left it, and not lost to the page. */
async function expectFocusIn(page: Page, where = `${PANEL}, .jp-Dialog`): Promise<void> {
  await expect
    .poll(() => page.evaluate(selector => !!document.activeElement?.closest(selector), where))
    .toBe(true);
}

/** What JupyterLab's palette of commands offers first for some words. */
async function choose(page: Page, words: string): Promise<void> {
  const field = page.locator('.jp-ModalCommandPalette input');
  // A page that was shown a moment ago does not know its shortcuts yet; a second press would close the palette. What is
  // typed while it still fills its list can be lost.
  await expect(async () => {
    if (!(await field.isVisible())) {
      await page.keyboard.press('Control+Shift+c');
    }
    await expect(field).toBeFocused({ timeout: 2_000 });
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(words);
    await expect(page.locator('.lm-CommandPalette-item.lm-mod-active')).toContainText(words, {
      timeout: 5_000
    });
  }).toPass({ timeout: 60_000 });
  await page.keyboard.press('Enter');
}

test('from a name to the executed copy, without a mouse', async ({ page, server }) => {
  writeNotebook(server);
  await page.setViewportSize({ width: 1400, height: 900 });
  await openLab(page, server);
  // JupyterLab that has only just come up may forget what it was told.
  const path = page.locator('.jp-Dialog input');
  await expect(async () => {
    if (!(await path.isVisible())) {
      await choose(page, 'Open from Path');
    }
    await expect(path).toBeVisible({ timeout: 10_000 });
  }).toPass();
  await page.keyboard.insertText('walked.ipynb');
  await page.keyboard.press('Enter');
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();

  // The shortcut brings the panel, with the keyboard in it. A fact leads to its cell.
  await page.keyboard.press('Control+Alt+g');
  const panel = page.locator(PANEL);
  await expect(panel.getByText('DigitNet')).toBeVisible();
  await expectFocusIn(page);
  await tabTo(page, panel.getByRole('button', { name: 'batch 64, go to cell 9' }));
  await page.keyboard.press('Enter');
  await expect(page.locator('.jp-Notebook .jp-Cell.jp-mod-active')).toContainText(
    'BATCH_SIZE = 64'
  );

  // What an estimate cannot know is asked, and answered where one stands.
  await page.keyboard.press('Control+Alt+g');
  await tabTo(page, panel.getByRole('button', { name: 'Estimate', exact: true }));
  await page.keyboard.press('Enter');
  const question = panel.locator('.jp-PaddleGpu-question').first();
  await expect(question).toContainText('HIDDEN');
  await expectFocusIn(page);
  await tabTo(page, question.locator('input'));
  await page.keyboard.insertText('128');
  await page.keyboard.press('Enter');
  const big = panel.locator('.jp-PaddleGpu-big');
  await expect(big).toHaveText(/^\d+(\.\d+)? MiB$/);
  await expectFocusIn(page);
  await expect(panel.getByTitle('544.9 k parameters')).toBeVisible();

  // The course of the step, and memory over batch size: number and foot follow the handle.
  const course = panel.getByRole('slider', { name: 'Memory over one step' });
  await tabTo(page, course);
  await page.keyboard.press('PageUp');
  await expect(course).toHaveAttribute('aria-valuetext', /backward|forward/);
  const batch = panel.getByRole('slider', { name: 'Batch size' });
  await tabTo(page, batch);
  const before = (await big.textContent()) ?? '';
  await page.keyboard.press('PageUp');
  await expect(batch).toHaveAttribute('aria-valuenow', '128');
  await expect(big).not.toHaveText(before);
  await expect(panel.locator('.jp-PaddleGpu-was')).toContainText(before);
  const foot = panel.getByRole('region', { name: 'Submit' });
  await expect(foot).toContainText('with batch 128');

  // A size that the model refuses is told with its reason, and taken back.
  const memory = panel.getByRole('region', { name: 'Memory of one training step' });
  const advice = panel.getByRole('region', { name: 'Could save' });
  await panel.getByRole('button', { name: 'all', exact: true }).press('Enter');
  await advice.getByRole('button', { name: 'more, what if…' }).press('Enter');
  await tabTo(page, advice.getByLabel('Images, pixels a side'));
  await page.keyboard.insertText('64');
  await page.keyboard.press('Enter');
  await expect(memory).toContainText(
    'would stop with batch 128, with images of 64 × 64 pixels'
  );
  await expectFocusIn(page);
  await advice.getByRole('button', { name: 'As in the notebook' }).press('Enter');
  await expect(big).toHaveText(before);
  await expectFocusIn(page);
  await panel
    .getByRole('button', { name: /^About/ })
    .first()
    .press('Enter');
  await page.keyboard.press('Escape');

  // The dialog: what is otherwise stands in the foot, and the focus comes back.
  const change = foot.getByRole('button', { name: 'Change…' });
  await tabTo(page, change);
  await page.keyboard.press('Enter');
  const dialog = page.locator('.jp-Dialog');
  // A field that is not valid disables buttons; the keyboard goes round in the form all the same.
  const usual = dialog.getByRole('button', { name: 'As usual' });
  const first = dialog.getByRole('radio', { name: 'in the background here' });
  await dialog.getByLabel('Time at most, hours').fill('-1');
  await expect(dialog.getByRole('button', { name: 'Keep' })).toBeDisabled();
  await tabTo(page, usual);
  await page.keyboard.press('Tab');
  await expect(first).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(usual).toBeFocused();
  await dialog.getByLabel('Time at most, hours').fill('2');
  await dialog.getByLabel(/^Environment/).fill('SEED=7');
  await tabTo(page, dialog.getByRole('button', { name: 'Keep' }));
  await page.keyboard.press('Enter');
  await expect(foot).toContainText('at most 2 h 0 min');
  await expect(foot).toContainText('SEED=…');
  await expect(change).toBeFocused();

  // Submit, and watch it: what comes and goes takes the focus nowhere else.
  await tabTo(page, submitButton(panel), 'Shift+Tab');
  await page.keyboard.press('Enter');
  const row = jobRow(panel, 'walked');
  await expect(row).toHaveAttribute('data-state', 'running');
  await expect(row.getByRole('log')).toContainText('step');
  await expect(row.getByRole('table')).toHaveCount(1);
  await expectFocusIn(page);
  await expect(async () => {
    const seen = await glance(panel);
    expect(seen.all).toBeLessThanOrEqual(120);
    expect(seen.job).toBeLessThan(100);
    expect(seen.submit).toBeLessThan(850);
  }).toPass({ timeout: 60_000 });

  // Its log, on its own page; and the end of it.
  const open = row.getByRole('button', { name: 'walked', exact: true });
  await tabTo(page, open, 'Shift+Tab');
  await page.keyboard.press('Enter');
  const job = page.locator('.jp-PaddleGpu-view:visible');
  await expectFocusIn(page, '.jp-PaddleGpu');
  await tabTo(page, job.getByRole('tab', { name: 'Overview' }));
  await page.keyboard.press('ArrowRight');
  await expect(job.getByRole('log', { name: 'Log of the job' })).toContainText('step');
  await tabTo(page, job.getByRole('button', { name: 'Stop' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(row).toHaveAttribute('data-state', 'cancelled');
  await expectFocusIn(page, '.jp-PaddleGpu');

  // All jobs: once more with one epoch, and both side by side.
  await choose(page, 'Show all jobs');
  const list = page.locator('.jp-PaddleGpu-jobsPage');
  const box = list.getByRole('checkbox', { name: /^Choose walked/ });
  await expect(box).toHaveCount(1);
  await tabTo(page, box);
  await page.keyboard.press('Space');
  await tabTo(page, list.getByRole('button', { name: 'Re-run with…' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog');
  await tabTo(page, form.getByLabel('EPOCHS'));
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('1');
  await tabTo(page, form.getByRole('button', { name: 'Run' }));
  await page.keyboard.press('Enter');
  await expect(job.getByRole('heading', { level: 1 })).toContainText('walked');
  await expect(job.getByRole('button', { name: 'Re-run', exact: true })).toBeVisible();
  await expectFocusIn(page, '.jp-PaddleGpu');
  await choose(page, 'Show all jobs');
  await expect(box).toHaveCount(2);
  for (const one of await box.all()) {
    await tabTo(page, one);
    if (!(await one.isChecked())) {
      await page.keyboard.press('Space');
    }
  }
  await tabTo(page, list.getByRole('button', { name: 'Compare 2' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  const comparison = list.getByRole('region', { name: 'Comparison' });
  // Curves have tables of their own, whose rows begin alike.
  const differing = comparison.getByRole('group', { name: 'What differs' });
  await expect(differing.getByRole('row', { name: /^epochs/ })).toContainText('200');
  await expectFocusIn(page, '.jp-PaddleGpu-jobsPage');

  // What it wrote.
  await tabTo(page, list.getByRole('button', { name: 'walked', exact: true }).first());
  await page.keyboard.press('Enter');
  await expect(job.getByRole('slider', { name: /^loss over time, last value/ })).toBeVisible();
  await tabTo(page, job.getByRole('button', { name: 'Executed copy' }));
  await page.keyboard.press('Enter');
  const executed = page.locator('.jp-NotebookPanel:visible');
  await expect(executed.locator('.jp-OutputArea-output').first()).toContainText('paddle');
  expect(page.url()).toContain('paddle-gpu-runs/walked-');
});
