/** Sixteen devices at one sample a second with the panel open: is the page's memory flat? `MINUTES` says how long. */

import type { Page } from '@playwright/test';

import { expect, openNotebook, openPanel, test } from '../fixtures';
import { cost, devtools, metrics, save } from './measure';

const MINUTES = Number(process.env.MINUTES ?? 10);
const CARDS = 16;
const GIB = 2 ** 30;

test.use({ serverOptions: { cards: world(0) } });

test('sixteen devices at one sample a second', async ({ page, browser, server }) => {
  await openNotebook(page, server, 'digits_loop.ipynb');
  const panel = await openPanel(page);
  const fits = panel.getByRole('region', { name: 'Devices' });
  // All of them, with the machine itself: four at most stand there by themselves.
  const rows = fits.locator('.jp-PaddleGpu-device');
  await fits.locator('.jp-PaddleGpu-fold').click();
  await expect(rows).toHaveCount(CARDS + 1);
  let second = 0;
  const timer = setInterval(() => server.setCards(world(++second)), 1000);
  const minutes: IMemory[] = [];
  try {
    // The first minute makes what is kept from then on.
    for (let minute = 0; minute <= MINUTES; minute++) {
      await page.waitForTimeout(60_000);
      minutes.push(await memory(page));
      process.stdout.write(`minute ${minute + 1}: ${JSON.stringify(minutes.at(-1))}\n`);
    }
  } finally {
    clearInterval(timer);
  }
  const shown = await rows.count();
  const timed = setInterval(() => server.setCards(world(++second)), 1000);
  const minute = await cost(browser, page, () => page.waitForTimeout(30_000), false);
  clearInterval(timed);
  const [first, last] = [minutes[0], minutes[minutes.length - 1]];
  save('sixteen_devices', {
    minutes: MINUTES,
    rows_shown: shown,
    heap_bytes: minutes.map(({ heap }) => heap),
    nodes: minutes.map(({ nodes }) => nodes),
    listeners: minutes.map(({ listeners }) => listeners),
    growth: last.heap / first.heap - 1,
    half_a_minute: minute
  });
});

interface IMemory {
  heap: number;
  nodes: number;
  listeners: number;
}

/** After everything that nobody holds has been let go. */
async function memory(page: Page): Promise<IMemory> {
  const session = await devtools(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number };
  const { Nodes, JSEventListeners } = await metrics(session);
  await session.detach();
  return { heap: usedSize, nodes: Nodes, listeners: JSEventListeners };
}

/** Cards of which each has something else in use with every second. */
function world(second: number): string[] {
  return [
    `count ${CARDS}`,
    ...Array.from(
      { length: CARDS },
      (_, card) => `used ${card} ${(1 + ((second * 7 + card * 5) % 60)) * GIB}`
    )
  ];
}
