/**
 * Every state of the pages and dialogs, in the order in which one page reaches them, and those without a server. See
 * `panel.ts`.
 */

import { command, ended, expect } from '../fixtures';
import { gate } from './gate';
import {
  bring,
  type IScene,
  type IState,
  open as enterAgain,
  JOBS,
  PANEL,
  submitted
} from './panel';

export const VIEW = '.jp-PaddleGpu-view:not(.lm-mod-hidden *)';
const LIST = '.jp-PaddleGpu-jobsPage:not(.lm-mod-hidden *)';
const DIALOG = '.jp-Dialog-content';
/** The page's tabs in their order; ranks are there for several processes only. */
const TABS = ['overview', 'log', 'memory', 'notebook', 'details'];

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
    await open(scene, JOBS.running);
    await expect(scene.page.locator(VIEW).locator('[role=log]')).toContainText('line 1', {
      timeout: 180_000
    });
  }).slice(0, 2),
  {
    name: 'done, failed and stopped',
    part: PANEL,
    reach: async ({ page, server }) => {
      server.hold(false);
      await server.json(`jobs/${JOBS.running}/cancel`, { force: true });
      if (JOBS.first) {
        // Those of the first walk stand behind its others.
        await page.locator(`${PANEL} .jp-PaddleGpu-jobs ~ .jp-PaddleGpu-row button`).click();
      } else {
        const paths = ['runs.ipynb', 'breaks.ipynb'];
        const jobs = paths.map(path => submitted(server, path));
        [JOBS.first, JOBS.failed] = await Promise.all(jobs);
      }
      for (const job of [JOBS.running, JOBS.first, JOBS.failed]) {
        await ended(server, job);
      }
      for (const state of ['cancelled', 'failed', 'succeeded']) {
        const row = page.locator(`${PANEL} .jp-PaddleGpu-job[data-state=${state}]`);
        await expect(row.first()).toBeVisible();
      }
    }
  },
  ...tabs('done', async scene => {
    const { server } = scene;
    if (!JOBS.second) {
      const again = { values: { BATCH_SIZE: 128 } };
      const job = (await server.json(`jobs/${JOBS.first}/rerun`, again)) as { id: string };
      JOBS.second = job.id;
      await ended(server, JOBS.second);
    }
    await open(scene, JOBS.second);
    await expect(scene.page.locator(VIEW).getByRole('slider').first()).toBeVisible();
  }),
  ...tabs('failed', async scene => {
    await open(scene, JOBS.failed);
    await expect(scene.page.locator(VIEW).getByRole('alert')).toBeVisible();
  }).slice(0, 2),
  {
    name: 'jobs page',
    part: LIST,
    reach: async ({ page, server }) => {
      if (!JOBS.sweep) {
        await server.json('schedules', { path: 'runs.ipynb', cron: '0 2 * * *', zone: 'UTC' });
        const wanted = { path: 'runs.ipynb', space: { PAUSE: '0.01, 0.02' }, at_once: 2 };
        JOBS.sweep = ((await server.json('sweeps', wanted)) as { id: string }).id;
      }
      await expect
        .poll(
          async () => ((await server.json(`sweeps/${JOBS.sweep}`)) as { ended: number }).ended,
          {
            timeout: 180_000
          }
        )
        .not.toBeNull();
      await command(page, 'paddle-gpu:open-jobs', { sweep: JOBS.sweep });
      await expect(page.locator(LIST).locator('tr[data-sweep]').first()).toBeVisible();
      await expect(page.locator(LIST).locator('li[data-schedule]')).toBeVisible();
    }
  },
  {
    name: 'comparison',
    part: LIST,
    reach: async ({ page }) => {
      await command(page, 'paddle-gpu:compare-jobs', { ids: [JOBS.first, JOBS.second] });
      const comparison = page.locator('.jp-PaddleGpu-comparison');
      await expect(comparison.getByRole('slider').first()).toBeVisible();
    }
  },
  {
    name: 're-run dialog',
    part: DIALOG,
    reach: async ({ page }) => {
      void command(page, 'paddle-gpu:rerun-with', { id: JOBS.first });
      const rate = page.locator(DIALOG).getByLabel('LEARNING_RATE');
      await rate.fill('fast');
      await page.locator(DIALOG).getByLabel('BATCH_SIZE').fill('32, 64');
    }
  },
  {
    name: 'submit dialog',
    part: DIALOG,
    reach: async scene => {
      await close(scene);
      await bring(scene, 'digits_fit.ipynb');
      await scene.page.locator('.jp-PaddleGpu-submit button').last().click();
      await expect(scene.page.locator(DIALOG)).toBeVisible();
    }
  },
  {
    name: 'submit dialog, again and again',
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
