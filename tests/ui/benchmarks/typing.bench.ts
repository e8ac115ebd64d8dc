/** Typing in a notebook with the panel open, beside the same with it closed: rounds in turn, processor time of the page. */

import type { Browser, Page } from '@playwright/test';

import { expect, openNotebook, openPanel, test } from '../fixtures';
import { cost, type ICost, median, quantile, save, typical } from './measure';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
/** One round: so many keys, ten a second; then the time in which what follows from them is computed and drawn. */
const KEYS = 60;
const PAUSE = 100;
const AFTER = 5_000;

interface IRound {
  cost: ICost;
  after: ICost;
  /** Milliseconds from each key to the frame that shows it; of those over 16 ms only, the browser tells no others. */
  keys: number[];
}

test('typing with the panel open and closed', async ({ page, browser, server }) => {
  await openNotebook(page, server, 'digits_loop.ipynb');
  // In a notebook that is trusted the number follows what is typed: the dearest state.
  await trust(page);
  const panel = await openPanel(page);
  const memory = panel.getByRole('region', { name: 'Memory of one training step' });
  await memory.getByRole('button', { name: 'Estimate' }).click();
  await expect(memory.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await expect(panel.getByText('Computing what would help')).toBeHidden({ timeout: 180_000 });
  const asked = { open: 0, closed: 0 };
  let now: 'open' | 'closed' = 'open';
  page.on('request', request => {
    asked[now] += Number(request.url().includes('/paddle-gpu/api/placements'));
  });
  const rounds = { open: [] as IRound[], closed: [] as IRound[] };
  for (let number = -1; number < ROUNDS; number++) {
    // First one, then the other, next time the other way round.
    const order = number % 2 ? (['open', 'closed'] as const) : (['closed', 'open'] as const);
    for (const state of order) {
      now = state;
      await show(page, state === 'open');
      const round = await type(browser, page);
      if (number >= 0) {
        rounds[state].push(round);
      }
    }
  }
  const ratios = (of: (one: IRound) => number) =>
    rounds.open.map((one, index) => of(one) / of(rounds.closed[index]));
  const ratio = (of: (one: IRound) => number) => median(ratios(of));
  const told = (of: IRound[]) => {
    const all = of.flatMap(one => one.keys);
    return {
      ...typical(of.map(one => one.cost)),
      after: typical(of.map(one => one.after)),
      key_to_frame: { slow: all.length, of: KEYS * ROUNDS, p95: quantile(all, 0.95) }
    };
  };
  save('typing', {
    keys: KEYS,
    rounds: ROUNDS,
    estimates_asked: asked,
    open: told(rounds.open),
    closed: told(rounds.closed),
    ratios_cpu: ratios(one => one.cost.cpu),
    ratio_cpu: ratio(one => one.cost.cpu),
    ratio_script_style_layout: ratio(one => one.cost.script + one.cost.style_and_layout),
    ratio_after_cpu: ratio(one => one.after.cpu)
  });
});

async function trust(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        shell: { currentWidget: { content: { model: { cells: { trusted: boolean }[] } } } };
      };
    };
    for (const cell of jupyterapp.shell.currentWidget.content.model.cells) {
      cell.trusted = true;
    }
  });
}

/** Open or close the panel as a person does; the cell has the keyboard again afterwards. */
async function show(page: Page, open: boolean): Promise<void> {
  const panel = page.locator('#jp-PaddleGpu-panel');
  if ((await panel.isVisible()) !== open) {
    await page.locator('[data-id="jp-PaddleGpu-panel"]').click();
  }
  await expect(panel).toBeVisible({ visible: open });
}

/** Type at the end of the cell that trains, and take it back. */
async function type(browser: Browser, page: Page): Promise<IRound> {
  const cell = page.locator('.jp-Notebook .jp-Cell', { hasText: 'for epoch in' }).first();
  await cell.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(AFTER);
  await page.evaluate(() => {
    const own = window as unknown as { slowKeys: number[]; keyObserver: PerformanceObserver };
    own.slowKeys = [];
    own.keyObserver = new PerformanceObserver(list => {
      for (const entry of list.getEntries()) {
        if (entry.name === 'keydown') {
          own.slowKeys.push(entry.duration);
        }
      }
    });
    own.keyObserver.observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  const text = '# what is typed here is a comment, whatever it says of it all '.slice(0, KEYS);
  const typed = await cost(
    browser,
    page,
    () => page.keyboard.type(text, { delay: PAUSE }),
    false
  );
  const after = await cost(browser, page, () => page.waitForTimeout(AFTER), false);
  const slow = await page.evaluate(() => {
    const own = window as unknown as { slowKeys: number[]; keyObserver: PerformanceObserver };
    own.keyObserver.disconnect();
    return own.slowKeys;
  });
  await page.keyboard.press('Shift+Home');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  return { cost: typed, after, keys: slow };
}
