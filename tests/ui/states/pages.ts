/**
 * Every state of the pages and dialogues, in the order in which one page reaches them, and those without a server. See
 * `panel.ts`. Jobs that a server has from an earlier walk are looked at again.
 */

import { ended, expect } from '../fixtures';
import { command } from '../screenshots/pictures';
import { gate } from './gate';
import { bring, type IScene, type IState, open as enterAgain, PANEL, submitted } from './panel';

export const VIEW = '.jp-PaddleGpu-view:not(.lm-mod-hidden *)';
const JOBS = '.jp-PaddleGpu-jobsPage:not(.lm-mod-hidden *)';
const DIALOG = '.jp-Dialog-content';
/** The page's tabs in their order; ranks are there for several processes only. */
const TABS = ['overview', 'log', 'memory', 'notebook', 'details'];

let [held, first, second, failed, sweep] = ['', '', '', '', ''];

async function open({ page }: IScene, id: string): Promise<void> {
  await command(page, 'paddle-gpu:open-job', { id });
  await expect(page.locator(VIEW).getByRole('tab').first()).toBeVisible();
}

async function choose({ page }: IScene, at: number): Promise<void> {
  const tab = page.locator(VIEW).getByRole('tab').nth(at);
  await tab.click();
  await expect(tab).toHaveAttribute('aria-selected', 'true');
}

/** A tab of a job's page, by its place. */
export async function openTab(scene: IScene, id: string, at: number): Promise<void> {
  await open(scene, id);
  await choose(scene, at);
}

async function close({ page }: IScene): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.locator(DIALOG)).toHaveCount(0);
}

/** A job's tabs, one after the other. */
function tabs(what: string, show: (scene: IScene) => Promise<void>): IState[] {
  return TABS.map((tab, at) => ({
    name: `job ${what}, ${tab}`,
    part: VIEW,
    reach: async scene => {
      if (!at) {
        await show(scene);
      }
      await choose(scene, at);
    }
  }));
}

export const PAGE_STATES: readonly IState[] = [
  ...tabs('running', async scene => {
    const { server } = scene;
    if (!second) {
      first = await submitted(server, 'runs.ipynb');
      await ended(server, first);
      const again = { values: { BATCH_SIZE: 128 } };
      second = ((await server.json(`jobs/${first}/rerun`, again)) as { id: string }).id;
      await ended(server, second);
    }
    server.hold(true);
    held = await submitted(server, 'counting.ipynb');
    await open(scene, held);
    await expect(scene.page.locator(VIEW).locator('[role=log]')).toContainText('line 1', {
      timeout: 180_000
    });
  }).slice(0, 2),
  ...tabs('done', async scene => {
    const { server } = scene;
    server.hold(false);
    await server.json(`jobs/${held}/cancel`, { force: true });
    await open(scene, second);
    await expect(scene.page.locator(VIEW).getByRole('slider').first()).toBeVisible();
  }),
  ...tabs('failed', async scene => {
    const { server } = scene;
    failed ||= await submitted(server, 'breaks.ipynb');
    await ended(server, failed);
    await open(scene, failed);
    await expect(scene.page.locator(VIEW).getByRole('alert')).toBeVisible();
  }).slice(0, 2),
  {
    name: 'jobs page',
    part: JOBS,
    reach: async ({ page, server }) => {
      await ended(server, held);
      if (!sweep) {
        await server.json('schedules', { path: 'runs.ipynb', cron: '0 2 * * *', zone: 'UTC' });
        const wanted = { path: 'runs.ipynb', space: { PAUSE: '0.01, 0.02' }, at_once: 2 };
        sweep = ((await server.json('sweeps', wanted)) as { id: string }).id;
      }
      await expect
        .poll(async () => ((await server.json(`sweeps/${sweep}`)) as { ended: number }).ended, {
          timeout: 180_000
        })
        .not.toBeNull();
      await command(page, 'paddle-gpu:open-jobs', { sweep });
      await expect(page.locator(JOBS).locator('tr[data-sweep]')).toBeVisible();
      await expect(page.locator(JOBS).locator('li[data-schedule]')).toBeVisible();
    }
  },
  {
    name: 'comparison',
    part: JOBS,
    reach: async ({ page }) => {
      await command(page, 'paddle-gpu:compare-jobs', { ids: [first, second] });
      const comparison = page.locator('.jp-PaddleGpu-comparison');
      await expect(comparison.getByRole('slider').first()).toBeVisible();
    }
  },
  {
    name: 're-run dialogue',
    part: DIALOG,
    reach: async ({ page }) => {
      void command(page, 'paddle-gpu:rerun-with', { id: first });
      const rate = page.locator(DIALOG).getByLabel('LEARNING_RATE');
      await rate.fill('fast');
      await page.locator(DIALOG).getByLabel('BATCH_SIZE').fill('32, 64');
    }
  },
  {
    name: 'submit dialogue',
    part: DIALOG,
    reach: async scene => {
      await close(scene);
      await bring(scene, 'digits_fit.ipynb');
      await scene.page.locator('.jp-PaddleGpu-submit button').last().click();
      await expect(scene.page.locator(DIALOG)).toBeVisible();
    }
  },
  {
    name: 'submit dialogue, again and again',
    part: DIALOG,
    reach: async ({ page }) => {
      await page
        .locator(DIALOG)
        .getByRole('radio', { name: /again|重复/ })
        .check();
      await expect(page.locator(DIALOG).getByRole('status').first()).toBeVisible();
    }
  },
  { name: 'what is left', part: PANEL, reach: close },
  {
    name: 'server gone',
    part: PANEL,
    reach: async scene => {
      await scene.server.kill();
      await expect(note(scene, 'offline')).toBeVisible();
      await silence(scene);
    }
  },
  {
    name: 'no answer',
    part: PANEL,
    reach: async scene => {
      await note(scene, 'offline').getByRole('button').dispatchEvent('click');
      await expect(note(scene, 'unreachable')).toBeVisible();
    }
  },
  {
    name: 'other version',
    part: PANEL,
    reach: async scene => {
      const { page, server } = scene;
      await gate(page, 'version', { version: '0.0.1' });
      await server.start();
      await enterAgain(scene);
      await expect(note(scene, 'other_version')).toBeVisible();
    }
  }
];

const note = ({ page }: IScene, code: string) =>
  page.locator(`${PANEL} .jp-PaddleGpu-body [data-code=${code}]`);

/** JupyterLab's own word that its server is away would lie over everything. */
async function silence({ page }: IScene): Promise<void> {
  await page.addStyleTag({ content: '.jp-Dialog { display: none !important; }' });
}
