/** Every state of the pages and dialogues, in the order in which one page reaches them. See `panel.ts`. */

import { ended, expect } from '../fixtures';
import { command } from '../screenshots/pictures';
import { bring, type IScene, type IState, submitted } from './panel';

const VIEW = '.jp-PaddleGpu-view:not(.lm-mod-hidden *)';
const JOBS = '.jp-PaddleGpu-jobsPage:not(.lm-mod-hidden *)';
const DIALOG = '.jp-Dialog-content';
/** The page's tabs in their order; ranks are there for several processes only. */
const TABS = ['overview', 'log', 'memory', 'notebook', 'details'];

let [held, first, second] = ['', '', ''];

async function open({ page }: IScene, id: string): Promise<void> {
  await command(page, 'paddle-gpu:open-job', { id });
  await expect(page.locator(VIEW).getByRole('tab').first()).toBeVisible();
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
      const button = scene.page.locator(VIEW).getByRole('tab').nth(at);
      await button.click();
      await expect(button).toHaveAttribute('aria-selected', 'true');
    }
  }));
}

export const PAGE_STATES: readonly IState[] = [
  ...tabs('running', async scene => {
    const { server } = scene;
    first = await submitted(server, 'runs.ipynb');
    await ended(server, first);
    const again = { values: { BATCH_SIZE: 128 } };
    second = ((await server.json(`jobs/${first}/rerun`, again)) as { id: string }).id;
    await ended(server, second);
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
    await open(scene, second);
    await expect(scene.page.locator(VIEW).getByRole('slider').first()).toBeVisible();
  }),
  ...tabs('failed', async scene => {
    const { server } = scene;
    const failed = await submitted(server, 'wine_broken.ipynb');
    await ended(server, failed);
    await open(scene, failed);
    await expect(scene.page.locator(VIEW).getByRole('alert')).toBeVisible();
  }).slice(0, 2),
  {
    name: 'jobs page',
    part: JOBS,
    reach: async ({ page, server }) => {
      await ended(server, held);
      await server.json('schedules', { path: 'runs.ipynb', cron: '0 2 * * *', zone: 'UTC' });
      const sweep = { path: 'runs.ipynb', space: { PAUSE: '0.01, 0.02' }, at_once: 2 };
      const { id } = (await server.json('sweeps', sweep)) as { id: string };
      await expect
        .poll(async () => ((await server.json(`sweeps/${id}`)) as { ended: number }).ended, {
          timeout: 180_000
        })
        .not.toBeNull();
      await command(page, 'paddle-gpu:open-jobs', { sweep: id });
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
  { name: 'what is left', part: '#jp-PaddleGpu-panel', reach: close }
];
