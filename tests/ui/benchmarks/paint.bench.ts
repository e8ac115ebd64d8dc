/**
 * What the extension costs who opens JupyterLab on a notebook and does not look at the panel: loads with and without it
 * in turn; then the panel opened, from the press to its first content and its first figures.
 */

import type { Browser, BrowserContext, Page } from '@playwright/test';

import { CARDS } from '../cards';
import { expect, openNotebook, openPanel, reload, test } from '../fixtures';
import { LabServer } from '../server';
import { median, processorTime, save, untilDrawn } from './measure';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const NOTEBOOK = 'digits_loop.ipynb';
/** Milliseconds after the notebook was drawn in which an extension may still begin with something. */
const AFTER = 3_000;
/** Head, devices and number of the panel. */
const PARTS = [
  '#jp-PaddleGpu-panel .jp-PaddleGpu-head',
  '#jp-PaddleGpu-panel .jp-PaddleGpu-device .jp-PaddleGpu-bar',
  '#jp-PaddleGpu-panel .jp-PaddleGpu-big'
] as const;

/** Milliseconds: processor time of the page, and from the page's address to what is drawn. */
interface ILoad {
  cpu: number;
  cpu_to_first_paint: number;
  first_paint: number;
  notebook: number;
}

test.use({ serverOptions: { cards: CARDS } });

test('first paint with and without the extension', async ({ browser, server }) => {
  const other = new LabServer({ cards: CARDS, bare: true });
  await other.start();
  try {
    const figures: Record<string, object> = {};
    for (const cache of ['filled', 'empty'] as const) {
      const kept = cache === 'filled' ? await browser.newContext() : null;
      const loads = { with: [] as ILoad[], without: [] as ILoad[] };
      for (let number = -1; number < ROUNDS; number++) {
        // First one, then the other, next time the other way round; the first round fills the cache.
        const order = number % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const);
        for (const side of order) {
          const context = kept ?? (await browser.newContext());
          const one = await load(browser, context, side === 'with' ? server : other);
          await (kept ? undefined : context.close());
          if (number >= 0) {
            loads[side].push(one);
          }
        }
      }
      await kept?.close();
      figures[cache] = {
        with: middle(loads.with),
        without: middle(loads.without),
        ratio: middle(
          loads.with.map((one, index) => each(name => one[name] / loads.without[index][name]))
        )
      };
    }
    save('first_paint', { rounds: ROUNDS, ...figures });
  } finally {
    await other.dispose();
  }
});

test('the panel from the press to its first figures', async ({ page, server }) => {
  await openNotebook(page, server, NOTEBOOK);
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await expect(panel.getByText('Computing what would help')).toBeHidden({ timeout: 180_000 });
  const tab = page.locator('[data-id="jp-PaddleGpu-panel"]');
  const opened = { first: [] as number[][], again: [] as number[][] };
  for (let number = 0; number < ROUNDS; number++) {
    await tab.click();
    await expect(panel).toBeHidden();
    await page.waitForTimeout(AFTER); // what is kept and how the page looks is written down meanwhile
    await reload(page);
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    await page.waitForTimeout(AFTER);
    opened.first.push(await untilDrawn(page, PARTS, () => tab.click()));
    await tab.click();
    await expect(panel).toBeHidden();
    opened.again.push(await untilDrawn(page, PARTS, () => tab.click()));
  }
  const told = (times: number[][]) => {
    const [head, devices, number] = PARTS.map((_, part) => median(times.map(one => one[part])));
    return { head, devices, number };
  };
  save('panel_opened', { rounds: ROUNDS, first: told(opened.first), again: told(opened.again) });
});

async function load(
  browser: Browser,
  context: BrowserContext,
  server: LabServer
): Promise<ILoad> {
  const page = await context.newPage();
  await page.addInitScript(watchNotebook);
  let drawn = 0;
  const spent = await processorTime(browser, page, async () => {
    await page.goto(`${server.url}/lab/tree/${NOTEBOOK}?reset`);
    drawn = await notebookDrawn(page);
    await page.waitForTimeout(AFTER);
  });
  const first = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0].startTime
  );
  await page.close();
  return { ...spent, first_paint: first, notebook: drawn };
}

/** Milliseconds from the address to the frame that shows the notebook with nothing over it. */
async function notebookDrawn(page: Page): Promise<number> {
  const found = await page.waitForFunction(
    () => (window as unknown as { notebookDrawn?: number }).notebookDrawn,
    undefined,
    { polling: 100, timeout: 180_000 }
  );
  return (await found.jsonValue()) ?? NaN;
}

function watchNotebook(): void {
  const look = (time: number): void => {
    const isThere =
      document.querySelector('.jp-NotebookPanel .jp-Cell .cm-content')?.checkVisibility() &&
      !document.querySelector('#jupyterlab-splash');
    if (isThere) {
      (window as unknown as { notebookDrawn: number }).notebookDrawn = time;
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
}

function each(of: (name: keyof ILoad) => number): ILoad {
  const names = ['cpu', 'cpu_to_first_paint', 'first_paint', 'notebook'] as const;
  return Object.fromEntries(names.map(name => [name, of(name)])) as unknown as ILoad;
}

function middle(loads: ILoad[]): ILoad {
  return each(name => median(loads.map(one => one[name])));
}
