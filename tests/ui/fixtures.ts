/** Galata's page on a server of the test's own, and the words by which people find things in our panel. */

import { expect, test as galata } from '@jupyterlab/galata';
import type { Locator, Page } from '@playwright/test';

import { type IServerOptions, LabServer } from './server';

interface IFixtures {
  serverOptions: IServerOptions;
  server: LabServer;
}

export const test = galata.extend<IFixtures>({
  serverOptions: [{}, { option: true }],
  server: async ({ serverOptions }, use) => {
    const server = new LabServer(serverOptions);
    await server.start();
    await use(server);
    await server.dispose();
  },
  baseURL: async ({ server }, use) => use(server.url),
  // Settings, state and workspaces are the server's own, so that a reload and a restart find them again.
  autoGoto: false,
  mockSettings: false,
  mockState: false,
  mockConfig: false,
  mockUser: false
});

export { expect };

/** Open JupyterLab on a notebook and wait until its cells are there. */
export async function openNotebook(page: Page, server: LabServer, name: string): Promise<void> {
  await page.goto(`${server.url}/lab/tree/${name}`);
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible({
    timeout: 60_000
  });
}

/** Show the panel by its tab in the sidebar. */
export async function openPanel(page: Page): Promise<Locator> {
  const panel = page.locator('#jp-PaddleGpu-panel');
  if (!(await panel.isVisible())) {
    await page.locator('[data-id="jp-PaddleGpu-panel"]').click();
  }
  await expect(panel).toBeVisible();
  return panel;
}

/** The row of the newest job of a name. */
export function jobRow(panel: Locator, name: string): Locator {
  return panel.getByRole('listitem', { name, exact: true }).first();
}
