/**
 * How long a printed line takes to the screen: a job prints the time, the page notes when the line is drawn. Both clocks
 * are this machine's. Run by `make bench`; writes benchmarks/results/screen_latency.json, asserts no time.
 */

import { writeFileSync } from 'fs';
import { join, resolve } from 'path';

import { expect, jobRow, openNotebook, openPanel, submitButton, test } from '../fixtures';
import { notebook } from '../server';

const RESULTS = resolve(__dirname, '..', '..', '..', 'benchmarks', 'results', 'screen_latency.json');
/** Lines, far enough apart that each is a message of its own. */
const LINES = 60;
const PRINT = `import time
for number in range(${LINES}):
    time.sleep(0.25)
    print(f"printed {time.time() * 1000:.0f}", flush=True)`;

test('a printed line reaches the screen', async ({ page, server }) => {
  writeFileSync(join(server.root, 'clock.ipynb'), JSON.stringify(notebook([PRINT])));
  await openNotebook(page, server, 'clock.ipynb');
  const panel = await openPanel(page);
  await submitButton(panel).click();
  const row = jobRow(panel, 'clock');
  await row.getByRole('button', { name: 'clock', exact: true }).click();
  const log = page.locator('.jp-PaddleGpu-view').getByRole('log');
  await expect(log).toContainText('printed', { timeout: 60_000 });
  const milliseconds = await log.evaluate(
    (node, wanted) =>
      new Promise<number[]>(done => {
        const seen = new Map<string, number>();
        const look = (first: boolean): void => {
          for (const [text, time] of node.textContent?.matchAll(/printed (\d{13})/g) ?? []) {
            if (!seen.has(text)) {
              // What was there before we looked tells nothing.
              seen.set(text, first ? NaN : Date.now() - Number(time));
            }
          }
          const counted = [...seen.values()].filter(value => !Number.isNaN(value));
          if (counted.length >= wanted) {
            observer.disconnect();
            done(counted);
          }
        };
        const observer = new MutationObserver(() => look(false));
        look(true);
        observer.observe(node, { childList: true, subtree: true, characterData: true });
      }),
    Math.floor(LINES / 2)
  );
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const figures = {
    lines: sorted.length,
    median_milliseconds: sorted[Math.floor(sorted.length / 2)],
    p95_milliseconds: sorted[Math.floor(sorted.length * 0.95)]
  };
  process.stdout.write(`line printed to line on screen: ${JSON.stringify(figures)}\n`);
  writeFileSync(RESULTS, `${JSON.stringify(figures, null, 1)}\n`);
});
