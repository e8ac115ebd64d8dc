/** A curve of one million points: as the server gives it (thinned), and all of it drawn, as if it did not thin. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { command, ended, expect, openNotebook, test } from '../fixtures';
import { notebook } from '../server';
import { cost, median, save } from './measure';

const POINTS = 1_000_000;
const TRAIN = `import math
for turn in range(${POINTS / 1000}):
    print("\\n".join(f"step {1000 * turn + n + 1}/${POINTS} loss {2 * math.exp(-turn / 300) + n % 7 / 50:.4f}" for n in range(1000)), flush=True)`;

test('a curve of one million points', async ({ page, browser, server }) => {
  writeFileSync(join(server.root, 'steps.ipynb'), JSON.stringify(notebook([TRAIN])));
  const body = { path: 'steps.ipynb', content: notebook([TRAIN]) };
  const { id } = (await server.json('jobs', body)) as { id: string };
  await ended(server, id);
  const asked: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const began = performance.now();
    await server.json(`jobs/${id}/metrics`);
    asked.push(performance.now() - began);
  }
  const metrics = (await server.json(`jobs/${id}/metrics`)) as IMetrics;
  await openNotebook(page, server, 'steps.ipynb');
  const figures: Record<string, object> = {};
  for (const points of [metrics.curves[0].values.length, POINTS]) {
    let given = 0;
    if (points === POINTS) {
      const json = whole(metrics);
      await page.route('**/metrics*', async route => {
        given++;
        await route.fulfill({ json });
      });
    }
    await openNotebook(page, server, 'steps.ipynb');
    const curve = page
      .locator('.jp-PaddleGpu-view:visible')
      .getByRole('slider', { name: /^loss over time/ });
    const draw = await cost(browser, page, async () => {
      await command(page, 'paddle-gpu:open-job', { id });
      await expect(curve.locator('canvas')).toBeVisible({ timeout: 180_000 });
      await page.waitForTimeout(2_000);
    });
    expect(given > 0).toBe(points === POINTS);
    const box = (await curve.boundingBox()) as { x: number; y: number; width: number };
    const rest = await cost(browser, page, () => page.waitForTimeout(5_000));
    const hover = await cost(browser, page, async () => {
      for (let turn = 0; turn < 200; turn++) {
        await page.mouse.move(box.x + 40 + ((box.width - 60) * turn) / 200, box.y + 60);
        await page.waitForTimeout(16);
      }
    });
    figures[points === POINTS ? 'all_points' : 'as_served'] = { points, draw, rest, hover };
  }
  save('curve', {
    points_printed: POINTS,
    server_first_milliseconds: asked[0],
    server_milliseconds: median(asked.slice(1)),
    ...figures
  });
});

interface IMetrics {
  curves: { name: string; times: number[]; values: number[]; epochs: (number | null)[] }[];
}

/** The same job's curve with a point for each step. */
function whole(metrics: IMetrics): IMetrics {
  const [curve] = metrics.curves;
  const [first, last] = [curve.times[0], curve.times[curve.times.length - 1]];
  const all = Array.from({ length: POINTS }, (_, index) => index);
  const long = {
    ...curve,
    times: all.map(index => first + ((last - first) * index) / POINTS),
    values: all.map(index => 2 * Math.exp(-index / 300_000) + (index % 7) / 50),
    epochs: all.map(() => null)
  };
  return { ...metrics, curves: [long] };
}
