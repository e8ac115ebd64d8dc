/** The panel as people sit before it: at a glance, at every width, while they type. */

import type { Locator, Page } from '@playwright/test';

import { glance } from './axe';
import {
  command,
  ended,
  expect,
  openLab,
  openNotebook,
  openPanel,
  reload,
  submitButton,
  test
} from './fixtures';
import { setWidth } from './screenshots/pictures';
import { type LabServer, notebook } from './server';

/** Look at the panel while the job of a notebook runs that is not the one in view. */
async function meanwhile(page: Page, server: LabServer, panel: Locator): Promise<void> {
  const epochs =
    'for n in range(1, 601): print(f"epoch {n}/600 loss {1 / n:.4f}"); time.sleep(1)';
  const { id } = (await server.json('jobs', {
    path: 'meanwhile.ipynb',
    content: notebook([`import time\n${epochs}`])
  })) as { id: string };
  try {
    await expect(panel.getByRole('log')).toContainText('epoch 3/600');
    for (const width of [360, 700]) {
      await setWidth(page, panel, width);
      expect((await glance(panel)).words).toBeLessThanOrEqual(120);
    }
  } finally {
    await server.json(`jobs/${id}/cancel`, { force: true });
    await ended(server, id);
  }
}

test('Submit is in view at every width, and nothing is cut', async ({ page, server }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  // With more jobs than the list shows, each of which has much to say.
  const content = notebook([`raise ValueError("${'a sentence of six words and '.repeat(9)}")`]);
  for (let runs = 0; runs < 5; runs++) {
    const { id } = (await server.json('jobs', { path: 'fails.ipynb', content })) as {
      id: string;
    };
    await ended(server, id);
  }
  await openNotebook(page, server, 'digits_fit.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible();
  await expect(panel.locator('.jp-PaddleGpu-busy, .jp-PaddleGpu-spinner')).toHaveCount(0);
  await expect(panel.locator('.jp-PaddleGpu-jobReason')).toHaveCount(1);
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
    // JupyterLab's messages stand beside it, not over what is clicked.
    await command(page, 'apputils:notify', {
      message: `at ${width}`,
      options: { autoClose: false, actions: [{ label: 'Yes' }] }
    });
    const message = page.locator('.Toastify__toast', { hasText: `at ${width}` });
    await expect(message).toBeVisible();
    await expect
      .poll(async () => {
        const [left, edge] = [await panel.boundingBox(), await message.boundingBox()];
        return !!left && !!edge && edge.x + edge.width <= left.x;
      })
      .toBe(true);
    const scrolls = () => panel.evaluate(node => node.scrollHeight - node.clientHeight);
    await expect.poll(scrolls).toBeLessThanOrEqual(1);
    expect((await glance(panel)).words).toBeLessThanOrEqual(120);
  }
  // Nor with the job of another notebook above the whole estimate.
  await meanwhile(page, server, panel);
  // Nor where all that is listed are sweeps, each with its best trial.
  const space = {
    BATCH_SIZE: '32,64',
    EPOCHS: '1,2',
    LEARNING_RATE: '0.1,0.2',
    PAUSE: '0.001,0.002'
  };
  for (let sweeps = 0; sweeps < 3; sweeps++) {
    const body = { path: 'runs.ipynb', space, search: 'random', trials: 1 };
    const { id } = (await server.json('sweeps', body)) as { id: string };
    await expect
      .poll(async () => (await server.json(`sweeps/${id}`)) as object, { timeout: 180_000 })
      .toMatchObject({ state: 'succeeded' });
  }
  await expect(panel.locator('[data-sweep]')).toHaveCount(3);
  await expect(panel.locator('[data-sweep]').first()).toContainText('learning rate 0.');
  await expect(panel.locator('.jp-PaddleGpu-job:not([data-sweep])')).toHaveCount(0);
  await meanwhile(page, server, panel);
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
  // The cell that trains wears its number.
  await expect(page.locator('.jp-Cell .jp-PaddleGpu-cellBadge')).toBeVisible();
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
  await reload(page);
  panel = await openPanel(page);
  await expect(panel.locator('.jp-PaddleGpu-big')).toHaveText(after);
});

test('JupyterLab’s start reads names; the rest is read when the panel is opened', async ({
  page,
  server
}) => {
  const read = () =>
    page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => /jupyter-paddle-gpu\/static\/.*\.js/.test(name))
        .reduce((sum, one) => sum + (one as PerformanceResourceTiming).decodedBodySize, 0)
    );
  await openLab(page, server);
  expect(await read()).toBeLessThan(45_000);
  await openPanel(page);
  await expect.poll(read).toBeGreaterThan(45_000);
});
