/** The panel as people sit before it: at a glance, by keyboard alone, with a screen reader, while they type. */

import type { Locator, Page } from '@playwright/test';
import { readFileSync, writeFileSync } from 'fs';
import { join } from 'path';

import { faults } from './axe';
import { expect, jobRow, openNotebook, openPanel, submitButton, test } from './fixtures';
import { setTheme, setWidth } from './screenshots/pictures';

const PANEL = '#jp-PaddleGpu-panel';

/** Whether the keyboard is where somebody left it, and not lost to the page. */
async function expectFocusIn(page: Page): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate(where => !!document.activeElement?.closest(where), `${PANEL}, .jp-Dialog`)
    )
    .toBe(true);
}

/** Press Tab until an element has the focus; it has to come within so many presses. */
async function tabTo(page: Page, target: Locator, most = 40): Promise<void> {
  for (let press = 0; press < most; press++) {
    if (await target.evaluate(node => node === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  await expect(target).toBeFocused({ timeout: 1 });
}

interface IGlance {
  /** Words of letters, and all that stands between spaces with a letter or a digit in it. */
  words: number;
  all: number;
  /** Pixels from the panel's top to Submit and to the first job. */
  submit: number;
  job: number;
}

/** What a look at the panel has to take in, without what only screen readers and lists hold, and without a program's own lines. */
async function glance(panel: Locator): Promise<IGlance> {
  return panel.evaluate(node => {
    const hidden = 'option, table, [hidden], .jp-PaddleGpu-unseen, title, [role=log]';
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts: string[] = [];
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent && !parent.closest(hidden) && parent.checkVisibility()) {
        texts.push(walker.currentNode.textContent ?? '');
      }
    }
    const count = (pattern: RegExp) =>
      texts.reduce((sum, text) => sum + (text.match(pattern) ?? []).length, 0);
    const top = node.getBoundingClientRect().top;
    const from = (selector: string) => {
      const found = node.querySelector(selector)?.getBoundingClientRect();
      return found ? Math.round(found.top - top) : 0;
    };
    return {
      words: count(/[\p{L}][\p{L}’'-]*/gu),
      all: count(/\S*[\p{L}\d]\S*/gu),
      submit: from('.jp-PaddleGpu-submit'),
      job: from('.jp-PaddleGpu-job')
    };
  });
}

async function expectNoFaults(page: Page, selector = PANEL): Promise<void> {
  expect(await faults(page, selector)).toEqual([]);
}

test('by keyboard alone, and for those who hear it', async ({ page, server }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  // It trains until it is stopped, however long it takes to look at it.
  const long = readFileSync(join(server.root, 'digits_loop.ipynb'), 'utf8');
  writeFileSync(
    join(server.root, 'digits_long.ipynb'),
    long.replace('epochs = 4', 'epochs = 10000')
  );
  await openNotebook(page, server, 'digits_long.ipynb');
  const panel = await openPanel(page);
  await expect(panel.getByText('RowReader')).toBeVisible();
  await expectNoFaults(page);

  // The shortcut brings the keyboard here, wherever it was.
  await page.locator('.jp-CodeCell .cm-content').first().click();
  await page.keyboard.press('Control+Alt+g');
  await expectFocusIn(page);
  await tabTo(page, panel.getByRole('button', { name: 'Estimate', exact: true }));
  await page.keyboard.press('Enter');
  const big = panel.locator('.jp-PaddleGpu-big');
  await expect(big).toBeVisible();
  await expectFocusIn(page);

  // The course of the step, and memory over batch size: number and foot follow the handle.
  const course = panel.getByRole('slider', { name: 'Memory over one step' });
  await tabTo(page, course);
  await page.keyboard.press('PageUp');
  await expect(course).toHaveAttribute('aria-valuetext', /backward|forward/);
  const batch = panel.getByRole('slider', { name: 'Batch size' });
  await tabTo(page, batch);
  const own = await batch.getAttribute('aria-valuenow');
  const before = (await big.textContent()) ?? '';
  await page.keyboard.press('PageUp');
  await expect(batch).toHaveAttribute('aria-valuenow', String(2 * Number(own)));
  await expect(big).not.toHaveText(before);
  await expect(panel.locator('.jp-PaddleGpu-was')).toContainText(before);
  const foot = panel.getByRole('region', { name: 'Submit' });
  await expect(foot).toContainText(`with batch ${2 * Number(own)}`);
  await page.keyboard.press('Escape');
  await expect(big).toHaveText(before);

  // All that folds out, in both themes.
  await panel.getByRole('button', { name: 'all', exact: true }).press('Enter');
  await panel.getByRole('button', { name: 'more, what if…' }).press('Enter');
  await panel
    .getByRole('button', { name: /^About/ })
    .first()
    .press('Enter');
  await expectNoFaults(page);
  await page.keyboard.press('Escape');
  await setTheme(page, 'dark');
  await expectNoFaults(page);
  await setTheme(page, 'light');

  // The dialogue: what is otherwise stands in the foot, and the focus comes back.
  const change = foot.getByRole('button', { name: 'Change…' });
  await change.focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator('.jp-Dialog');
  await dialog.getByLabel('Time at most, hours').fill('2');
  await dialog.getByLabel(/^Environment/).fill('SEED=7');
  await expectNoFaults(page, '.jp-Dialog-content');
  await dialog.getByRole('button', { name: 'Keep' }).press('Enter');
  await expect(foot).toContainText('at most 2 h 0 min');
  await expect(foot).toContainText('SEED=…');
  await expect(change).toBeFocused();

  // Submit, watch, stop: what goes takes the focus nowhere else.
  await submitButton(panel).focus();
  await page.keyboard.press('Enter');
  const row = jobRow(panel, 'digits_long');
  await expect(row).toHaveAttribute('data-state', 'running');
  await expect(row.getByRole('log')).toContainText('epoch');
  await expect(row.getByRole('table')).toHaveCount(1);
  await expectFocusIn(page);
  await expect(async () => {
    const seen = await glance(panel);
    expect(seen.all).toBeLessThanOrEqual(120);
    expect(seen.job).toBeLessThan(100);
    expect(seen.submit).toBeLessThan(850);
  }).toPass({ timeout: 60_000 });
  await expectNoFaults(page);
  await tabTo(page, row.getByRole('button', { name: 'Stop' }));
  await page.keyboard.press('Enter');
  await expect(row).toHaveAttribute('data-state', 'cancelled');
  await expectFocusIn(page);
  await expectNoFaults(page);
});

test('Submit is in view at every width, and nothing is cut', async ({ page, server }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible();
  for (const width of [280, 360, 700]) {
    await setWidth(page, panel, width);
    await expect(submitButton(panel)).toBeInViewport({ ratio: 1 });
    const wider = () =>
      panel.evaluate(node => {
        const edge = node.getBoundingClientRect().right + 1;
        return [...node.querySelectorAll('button, select, h1, h2, dd, dt, .jp-PaddleGpu-big')]
          .filter(one => one.getBoundingClientRect().right > edge)
          .map(one => one.textContent);
      });
    await expect.poll(wider).toEqual([]);
    const scrolls = () => panel.evaluate(node => node.scrollHeight - node.clientHeight);
    await expect.poll(scrolls).toBeLessThanOrEqual(1);
  }
  await expect.poll(async () => (await glance(panel)).words).toBeLessThanOrEqual(120);
});

test('the number follows what is typed, and is there after a reload', async ({
  page,
  server
}) => {
  await openNotebook(page, server, 'digits_loop.ipynb');
  let panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const big = panel.locator('.jp-PaddleGpu-big');
  await expect(big).toBeVisible();
  const before = (await big.textContent()) ?? '';
  const cell = page.locator('.jp-Notebook .jp-Cell', { hasText: 'batch_size = 128' }).first();
  await cell.getByText('epochs', { exact: false }).first().click();
  await page.keyboard.press('Control+a');
  const source = (await cell.locator('.cm-content').innerText()).replace(
    /batch_size = \d+/,
    'batch_size = 512'
  );
  await page.keyboard.insertText(source);
  await expect(big).not.toHaveText(before);
  await expect(panel).toContainText('batch 512');
  await expect(panel.locator('[data-code=stale]')).toHaveCount(0);
  const after = (await big.textContent()) ?? '';
  // It is kept a moment after it was found, and the notebook is saved with what it is of.
  await page.keyboard.press('Control+s');
  await expect
    .poll(async () => {
      const answer = await fetch(`${server.url}/lab/api/workspaces/default`);
      return JSON.stringify(await answer.json());
    })
    .toContain('jupyter-paddle-gpu:training:digits_loop.ipynb');
  await page.reload();
  panel = await openPanel(page);
  await expect(panel.locator('.jp-PaddleGpu-big')).toHaveText(after);
});
