/**
 * First paint: a page that loads with the panel open, beside the same without the extension; and the panel shown by a
 * click, beside JupyterLab's own table of contents and list of kernels. In turn, in one run.
 */

import type { Browser, Page } from '@playwright/test';
import { writeFileSync } from 'fs';
import { join } from 'path';

import { expect, openNotebook, openPanel, test } from '../fixtures';
import type { LabServer } from '../server';
import { cost, median, save, untilDrawn } from './measure';

const ROUNDS = Number(process.env.ROUNDS ?? 9);
const TABS = {
  panel: ['[data-id="jp-PaddleGpu-panel"]', '#jp-PaddleGpu-panel .jp-PaddleGpu-body'],
  table_of_contents: ['[data-id="table-of-contents"]', '#table-of-contents .jp-SidePanel-content'],
  running_kernels: ['[data-id="jp-running-sessions"]', '#jp-running-sessions .jp-RunningSessions-section']
};

test('first paint', async ({ page, browser, server }) => {
  const loads = { with_panel: [] as ILoad[], without_extension: [] as ILoad[] };
  await openNotebook(page, server, 'digits_fit.ipynb');
  await openPanel(page);
  await page.waitForTimeout(2_000); // JupyterLab writes down where the panel stands
  for (let turn = -1; turn < ROUNDS; turn++) {
    const order = turn % 2 ? (['with_panel', 'without_extension'] as const) : (['without_extension', 'with_panel'] as const);
    for (const kind of order) {
      enable(server, kind === 'with_panel');
      const found = await load(browser, page, server, kind === 'with_panel');
      if (turn >= 0) {
        loads[kind].push(found);
      }
    }
  }
  enable(server, true);
  await openNotebook(page, server, 'digits_fit.ipynb');
  await page.waitForTimeout(3_000);
  const shown: Record<string, { wall: number[]; cpu: number[] }> = {};
  for (let turn = -1; turn < ROUNDS; turn++) {
    for (const [name, [tab, content]] of Object.entries(TABS)) {
      // By a click on its tab; on the one of what stood there before, and back.
      const found = await reveal(browser, page, tab, content);
      shown[name] ??= { wall: [], cpu: [] };
      if (turn >= 0) {
        shown[name].wall.push(found.wall);
        shown[name].cpu.push(found.cpu);
      }
    }
  }
  const middle = (of: ILoad[]) => ({
    notebook_drawn: median(of.map(one => one.notebook)),
    panel_drawn: median(of.map(one => one.panel)),
    first_contentful_paint: median(of.map(one => one.paint)),
    cpu: median(of.map(one => one.cpu))
  });
  const ratio = (of: (one: ILoad) => number) =>
    median(loads.with_panel.map((one, index) => of(one) / of(loads.without_extension[index])));
  save('first_paint', {
    rounds: ROUNDS,
    load_with_panel: middle(loads.with_panel),
    load_without_extension: middle(loads.without_extension),
    ratio_notebook_drawn: ratio(one => one.notebook),
    ratio_cpu: ratio(one => one.cpu),
    panel_after_notebook: median(loads.with_panel.map(one => one.panel - one.notebook)),
    by_click: Object.fromEntries(
      Object.entries(shown).map(([name, { wall, cpu }]) => [
        name,
        { milliseconds: median(wall), cpu: median(cpu) }
      ])
    )
  });
});

interface ILoad {
  /** Milliseconds from the begin of the navigation until cells, and the panel's own content, are drawn. */
  notebook: number;
  panel: number;
  paint: number;
  cpu: number;
}

/** Switch our front end off or on for the pages that come. */
function enable(server: LabServer, is: boolean): void {
  writeFileSync(
    join(server.folder, 'config', 'labconfig', 'page_config.json'),
    JSON.stringify({
      ...{ buildAvailable: false, buildCheck: false },
      disabledExtensions: is ? {} : { 'jupyter-paddle-gpu': true }
    })
  );
}

async function load(browser: Browser, page: Page, server: LabServer, panel: boolean): Promise<ILoad> {
  await page.context().pages().at(-1)?.addInitScript(watch);
  const { cpu } = await cost(
    browser,
    page,
    async () => {
      await page.goto(`${server.url}/lab/tree/digits_fit.ipynb`);
      await page.waitForFunction(wanted => {
        const { seen } = window as unknown as { seen: Record<string, number> };
        return seen.notebook && (!wanted || seen.panel);
      }, panel, { timeout: 120_000 });
      await page.waitForTimeout(3_000);
    },
    false
  );
  const seen = await page.evaluate(() => {
    const own = window as unknown as { seen: Record<string, number> };
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return { notebook: own.seen.notebook, panel: own.seen.panel ?? 0, paint: paint?.startTime ?? 0 };
  });
  expect(Boolean(seen.panel)).toBe(panel);
  return { ...seen, cpu };
}

/** In the page, before anything else: when the cells and the panel have been drawn. */
function watch(): void {
  const own = window as unknown as { seen: Record<string, number> };
  own.seen = {};
  const wanted: Record<string, string> = {
    notebook: '.jp-NotebookPanel .jp-Cell .cm-content',
    panel: '#jp-PaddleGpu-panel .jp-PaddleGpu-head'
  };
  const look = (): void => {
    for (const [name, selector] of Object.entries(wanted)) {
      if (!own.seen[name] && document.querySelector(selector)?.checkVisibility()) {
        own.seen[name] = performance.now();
      }
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function reveal(browser: Browser, page: Page, tab: string, content: string) {
  const place = page.locator(`.jp-SideBar ${tab}`);
  if (await page.locator(content).first().isVisible()) {
    await place.click();
    await expect(page.locator(content).first()).toBeHidden();
  }
  let wall = 0;
  const { cpu } = await cost(
    browser,
    page,
    async () => {
      wall = await untilDrawn(page, content, () => place.click());
      await page.waitForTimeout(500);
    },
    false
  );
  return { wall, cpu };
}
