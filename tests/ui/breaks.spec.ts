/** What goes wrong between page, server and job: reload, a killed server, closed sockets. */

import type { Locator } from '@playwright/test';

import {
  expect,
  jobRow,
  openNotebook,
  openPanel,
  reload,
  submitButton,
  test,
  unhurried
} from './fixtures';
import { type LabServer, LINES } from './server';

/** Every numbered line of the newest job is in its log once and in order. */
async function expectWholeLog(server: LabServer): Promise<void> {
  const { jobs } = (await server.json('jobs')) as { jobs: { id: string }[] };
  const page = (await server.json(`jobs/${jobs[0].id}/log?limit=10000`)) as {
    lines: { n: number; x: string }[];
  };
  expect(page.lines.map(({ n }) => n)).toEqual(page.lines.map((_, index) => index));
  const numbered = page.lines.map(({ x }) => x).filter(x => /^line \d+$/.test(x));
  expect(numbered).toEqual(Array.from({ length: LINES }, (_, n) => `line ${n}`));
}

/** What JupyterLab has saved of its layout, from which a reload restores it. */
async function savedLayout(server: LabServer): Promise<string> {
  const answer = await fetch(`${server.url}/lab/api/workspaces/default`);
  const { data } = (await answer.json()) as { data?: Record<string, unknown> };
  return JSON.stringify(data ?? {});
}

/** Scroll through the log on the screen and gather every numbered line that is drawn. */
async function linesOnScreen(log: Locator): Promise<string[]> {
  const seen = new Set<string>();
  await log.evaluate(node => (node.scrollTop = 0));
  for (let i = 0; i < 60; i++) {
    // What a scroll brings is drawn with the next frame.
    await log.evaluate(
      () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    );
    for (const text of await log.locator('.jp-PaddleGpu-text').allTextContents()) {
      seen.add(text);
    }
    const atEnd = await log.evaluate(node => {
      const before = node.scrollTop;
      node.scrollTop += node.clientHeight / 2;
      return node.scrollTop === before;
    });
    if (atEnd) {
      break;
    }
  }
  return [...seen].filter(text => /^line \d+$/.test(text));
}

test('a reload and a killed server lose nothing', async ({ page, server }) => {
  await openNotebook(page, server, 'counting.ipynb');
  let panel = await openPanel(page);
  server.hold(true);
  await submitButton(panel).click();
  let row = jobRow(panel, 'counting');
  await expect(row.getByRole('log')).toContainText(/line \d+/);
  await row.getByRole('button', { name: 'counting', exact: true }).click();
  let view = page.locator('.jp-PaddleGpu-view');
  await expect(view.getByRole('log')).toContainText(/line \d+/);
  await view.getByRole('tab', { name: 'Log' }).click();
  // JupyterLab saves its layout a moment after it changed.
  await expect
    .poll(() => savedLayout(server))
    .toMatch(/"layout-restorer:data".*"jupyter-paddle-gpu-jobs:/);
  await expect.poll(() => savedLayout(server)).toContain('"tab":"log"');

  // Reload in the middle: the view comes back and goes on.
  await reload(page);
  view = page.locator('.jp-PaddleGpu-view');
  await expect(view.getByRole('log')).toContainText('line', { timeout: 180_000 });
  await expect(view.getByRole('tab', { name: 'Log' })).toHaveAttribute('aria-selected', 'true');
  panel = await openPanel(page);
  row = jobRow(panel, 'counting');
  await expect(row).toHaveAttribute('data-state', 'running');
  // What the panel asks by itself is answered, so that the next question is the click's.
  await expect(panel.getByText('This notebook does not use Paddle')).toBeVisible({
    timeout: 180_000
  });

  // JupyterLab's own announcement would lie over everything.
  await page.addLocatorHandler(page.getByRole('dialog'), async dialog => {
    await dialog.getByRole('button', { name: 'Close' }).click();
  });
  // Kill the server in the middle: the page says so, the job goes on, a new server knows it.
  await server.kill();
  const submit = panel.getByRole('region', { name: 'Submit' });
  await expect(panel.getByText('The server does not answer.')).toBeVisible();
  // Without a pointer, which JupyterLab's announcement would stop again and again.
  await submitButton(panel).dispatchEvent('click');
  await expect(submit.getByRole('alert')).toContainText('cannot be reached');
  server.hold(false);
  await server.start();
  await expect(panel.getByText('The server does not answer.')).toBeHidden({ timeout: 180_000 });
  await expect(submit.getByRole('alert')).toBeHidden();
  await expect(row).toHaveAttribute('data-state', 'succeeded', { timeout: 180_000 });
  await expect(view.getByRole('log')).toContainText('counted to the end', { timeout: 180_000 });
  await expectWholeLog(server);
  await view.getByRole('tab', { name: 'Log' }).click();
  await view.getByRole('checkbox', { name: 'Follow' }).uncheck();
  await expect.poll(() => linesOnScreen(view.getByRole('log'))).toHaveLength(LINES);
  // Of a bar that is drawn in place, its last state is left.
  await view.getByRole('checkbox', { name: 'Follow' }).check();
  await expect(view.getByRole('log')).toContainText('bar 100 %');
  await expect(view.getByRole('log')).not.toContainText('bar 50 %');
});

test('where sockets are closed, polling shows the same', async ({ page, server }) => {
  await page.routeWebSocket(/paddle-gpu\/api\/events/, socket => socket.close());
  await openNotebook(page, server, 'counting.ipynb');
  const panel = await openPanel(page);
  // By keyboard alone.
  await submitButton(panel).focus();
  await page.keyboard.press('Enter');
  const row = jobRow(panel, 'counting');
  await expect(row.getByRole('log')).toContainText(/line \d+/);
  await row.getByRole('button', { name: 'counting', exact: true }).focus();
  await page.keyboard.press('Enter');
  const view = page.locator('.jp-PaddleGpu-view');
  await expect(view.getByRole('log')).toContainText('counted to the end', { timeout: 180_000 });
  await expect(row).toHaveAttribute('data-state', 'succeeded');
  await view.getByRole('tab', { name: 'Log' }).click();
  await view.getByRole('searchbox').fill('line 123');
  await page.keyboard.press('Enter');
  await expect(view.getByRole('search')).toContainText('1 of 1');
  await expect(view.locator('.jp-mod-found')).toHaveText(/line 123/);
});

test('a stopped job keeps what it has, and a deleted one can be kept', async ({
  page,
  server
}) => {
  await openNotebook(page, server, 'counting.ipynb');
  const panel = await openPanel(page);
  server.hold(true);
  await submitButton(panel).click();
  const row = jobRow(panel, 'counting');
  await expect(row.getByRole('log')).toContainText(/line \d+/);
  await row.getByRole('button', { name: 'Stop' }).click();
  await expect(row).toHaveAttribute('data-state', 'cancelled');
  await unhurried(page, () => row.getByRole('button', { name: 'Delete' }).click());
  await panel.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toHaveAttribute('data-state', 'cancelled');
  // Run again: a new job is the first in the list.
  await row.getByRole('button', { name: 'Re-run', exact: true }).click();
  await expect(row).toHaveAttribute('data-state', 'running');
  server.hold(false);
});
