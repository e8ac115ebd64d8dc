/** JupyterLab's page on a server of the tests' own, and the words by which people find things in our panel. */

import {
  test as base,
  type BrowserContext,
  expect,
  type Locator,
  type Page
} from '@playwright/test';
import { readFileSync } from 'fs';
import { join } from 'path';

import { type IServerOptions, LabServer } from './server';

/** What the console says when a package that JupyterLab shares is not of the version that was asked for. */
const VERSIONS = /unsatisfied version|no satisfying version|shared (singleton )?module/i;
const VIEWPORT = { width: 1400, height: 1000 };

interface IFixtures {
  /** Whether the test goes on in the page of the one before, which is cheaper by the seconds in which JupyterLab starts. */
  sharesPage: boolean;
  versions: string[];
}

interface IWorkerFixtures {
  serverOptions: IServerOptions;
  server: LabServer;
  sharedContext: BrowserContext;
}

export const test = base.extend<IFixtures, IWorkerFixtures>({
  serverOptions: [{}, { option: true, scope: 'worker' }],
  sharesPage: [false, { option: true }],
  // One server for all tests with the same options: starting one takes longer than most tests.
  server: [
    async ({ serverOptions }, use) => {
      const server = new LabServer(serverOptions);
      await server.start();
      await use(server);
      await server.dispose();
    },
    { scope: 'worker', timeout: 300_000 }
  ],
  // One profile for the tests of a worker: with what it has read and compiled before, a page is loaded in half the time.
  sharedContext: [
    async ({ browser }, use) => {
      const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-US' });
      await use(context);
      await context.close();
    },
    { scope: 'worker' }
  ],
  context: async ({ sharedContext }, use) => use(sharedContext),
  page: async ({ sharedContext, sharesPage, server }, use, info) => {
    const [before] = sharedContext.pages();
    if (before && sharesPage) {
      await before.setViewportSize(VIEWPORT);
    } else {
      await Promise.all(sharedContext.pages().map(page => page.close()));
      await sharedContext.clearCookies();
    }
    const page = sharedContext.pages()[0] ?? (await sharedContext.newPage());
    await use(page);
    // A server's own mistake stands in its log, which nobody sees afterwards.
    if (info.status !== info.expectedStatus && server.mistakes()) {
      process.stdout.write(`${server.mistakes()}\n`);
    }
    // What a test has done to a page of its own holds for no other.
    if (!sharesPage) {
      await page.close();
    }
  },
  // Looked at in every test: what JupyterLab shares with us fits.
  versions: [
    async ({ page }, use) => {
      const warnings: string[] = [];
      page.on('console', message => {
        // Each extension asks by its own script; others' answers are not ours to judge.
        const { url } = message.location();
        if (url.includes('jupyter-paddle-gpu') && VERSIONS.test(message.text())) {
          warnings.push(message.text());
        }
      });
      await use(warnings);
      expect(warnings).toEqual([]);
    },
    { auto: true }
  ]
});

export { expect };

/** Open JupyterLab with nothing in it, or on a file, as if nobody had been there. */
export async function openLab(page: Page, server: LabServer, path = ''): Promise<void> {
  // A test does not find the tabs of the one before.
  await page.goto(`${server.url}/lab${path && `/tree/${path}`}?reset`);
  await started(page);
}

/** Load the page anew, with all that JupyterLab restores of it. */
export async function reload(page: Page): Promise<void> {
  await page.reload();
  await started(page);
}

/** Wait until JupyterLab has put everything where it was: a sidebar that is opened before would be closed again. */
export async function started(page: Page): Promise<void> {
  await page.locator('#main:visible').waitFor({ timeout: 180_000 });
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached', timeout: 180_000 });
}

/** Open JupyterLab on a notebook and wait until its cells are there. */
export async function openNotebook(page: Page, server: LabServer, name: string): Promise<void> {
  await openLab(page, server, name);
  await expect(cells(page).first()).toBeVisible({ timeout: 180_000 });
}

/** The same in the page as the test before left it, where there is one (`sharesPage`). */
export async function turnTo(page: Page, server: LabServer, name: string): Promise<void> {
  if (!page.url().startsWith(server.url)) {
    return openNotebook(page, server, name);
  }
  await page.evaluate(async () => {
    const { jupyterapp } = window as unknown as { jupyterapp: IJupyterApp };
    // Without a question, whatever was typed; and the kernels behind them.
    [...jupyterapp.shell.widgets('main')].forEach(widget => widget.dispose());
    const { sessions } = jupyterapp.serviceManager;
    // A kernel that is still starting refuses to end (“Unhandled error”).
    for (let tries = 5; tries; tries--) {
      const ended = await sessions.shutdownAll().then(
        () => true,
        () => false
      );
      if (ended) {
        return;
      }
      await new Promise(resolve => setTimeout(resolve, 1000));
    }
    await sessions.shutdownAll();
  });
  await expect(cells(page)).toHaveCount(0);
  await command(page, 'docmanager:open', { path: name });
  await expect(cells(page).first()).toBeVisible({ timeout: 180_000 });
}

const cells = (page: Page) => page.locator('.jp-NotebookPanel .jp-Cell');

/** Run one of JupyterLab's commands. */
export async function command(page: Page, id: string, args: object = {}): Promise<void> {
  await page.evaluate(
    async ([name, given]) => {
      const { jupyterapp } = window as unknown as { jupyterapp: IJupyterApp };
      await jupyterapp.commands.execute(name as string, given as object);
    },
    [id, args] as const
  );
}

/** What the tests take of JupyterLab's own object in its page. */
interface IJupyterApp {
  commands: { execute(id: string, args: object): Promise<void> };
  serviceManager: { sessions: { shutdownAll(): Promise<void> } };
  shell: { widgets(area: string): Iterable<{ dispose(): void }> };
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

/** The panel's own Submit, which names what it submits. */
export function submitButton(panel: Locator): Locator {
  return panel
    .getByRole('region', { name: 'Submit' })
    .getByRole('button', { name: /^Submit (?!anyway)/ });
}

/** The row of the newest job of a name. */
export function jobRow(panel: Locator, name: string): Locator {
  return panel.getByRole('listitem', { name, exact: true }).first();
}

/** Submit `runs.ipynb` past the page; the job's id. */
export async function submitRuns(server: LabServer): Promise<string> {
  const content = JSON.parse(readFileSync(join(server.root, 'runs.ipynb'), 'utf8'));
  return ((await server.json('jobs', { path: 'runs.ipynb', content })) as { id: string }).id;
}

/** Wait until a job has ended. */
export async function ended(server: LabServer, id: string): Promise<void> {
  await expect
    .poll(
      // A job that is not there has no end either.
      async () => typeof ((await server.json(`jobs/${id}`)) as { ended?: unknown }).ended,
      { timeout: 180_000 }
    )
    .toBe('number');
}

/** Press Tab until an element has the focus; it has to come within so many presses. */
export async function tabTo(
  page: Page,
  target: Locator,
  key = 'Tab',
  most = 60
): Promise<void> {
  for (let press = 0; press < most; press++) {
    if (await target.evaluate(node => node === document.activeElement)) {
      return;
    }
    await page.keyboard.press(key);
  }
  await expect(target).toBeFocused({ timeout: 1 });
}

/** Wait until what the page has begun to draw is drawn and has faded to its end, however slow the machine is. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise(done => requestAnimationFrame(done));
    await frame();
    await frame();
    const ending = document
      .getAnimations()
      .filter(one => one.effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(one => one.finished));
  });
}

/** Do something that can be taken back for some seconds; on this page it can be for as long as a busy machine takes. */
export async function unhurried(page: Page, act: () => Promise<void>): Promise<void> {
  const stretch = (long: boolean) =>
    page.evaluate(stretched => {
      const own = window as unknown as { usual?: typeof window.setTimeout };
      own.usual ??= window.setTimeout.bind(window);
      const usual = own.usual;
      window.setTimeout = ((run: TimerHandler, delay?: number, ...rest: unknown[]) =>
        usual(
          run,
          stretched && delay && delay >= 5_000 ? 3_600_000 : delay,
          ...rest
        )) as typeof window.setTimeout;
    }, long);
  await stretch(true);
  await act();
  await stretch(false);
}
