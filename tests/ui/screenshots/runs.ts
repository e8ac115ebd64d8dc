/** Pictures of the pages of jobs: all runs, a comparison, one run; light and dark, English and Chinese, narrow. */

import { readFileSync } from 'fs';
import { join } from 'path';

import { command, expect, openLab, test } from '../fixtures';
import { both, fileOf, setLanguage } from './pictures';

interface IJob {
  id: string;
  ended: number | null;
}

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test(`runs in ${language}`, async ({ page, server }) => {
    test.setTimeout(300_000);
    const content = JSON.parse(readFileSync(join(server.root, 'runs.ipynb'), 'utf8'));
    const first = (await server.json('jobs', { path: 'runs.ipynb', content })) as IJob;
    const ids = [first.id];
    for (const values of [{ BATCH_SIZE: 128 }, { BATCH_SIZE: 32, LEARNING_RATE: 0.3 }]) {
      ids.push(((await server.json(`jobs/${first.id}/rerun`, { values })) as IJob).id);
    }
    for (const id of ids) {
      await expect
        .poll(async () => ((await server.json(`jobs/${id}`)) as IJob).ended, {
          timeout: 120_000
        })
        .not.toBeNull();
    }
    await setLanguage(page, server, language);
    await openLab(page, server);
    await command(page, 'application:toggle-left-area');
    const take = (selector: string) => async (name: string) => {
      await page.waitForTimeout(1_000);
      await page.locator(selector).screenshot({ path: fileOf(name) });
    };
    await page.setViewportSize({ width: 1300, height: 520 });
    await command(page, 'paddle-gpu:open-jobs');
    await both(page, 'runs', short, take('#jp-PaddleGpu-jobsPage-tab'));
    await page.setViewportSize({ width: 1300, height: 900 });
    await command(page, 'paddle-gpu:compare-jobs', { ids: ids.slice(0, 2) });
    await both(page, 'compare', short, take('.jp-PaddleGpu-comparison'));
    await page.setViewportSize({ width: 1300, height: 760 });
    await command(page, 'paddle-gpu:open-job', { id: ids[2] });
    const view = `#jp-PaddleGpu-job-${ids[2]}-tab`;
    await both(page, 'run', short, take(view));
    await page.setViewportSize({ width: 2200, height: 760 });
    await take(view)(`run-wide-${short}`);
    await page.setViewportSize({ width: 400, height: 900 });
    await take(view)(`run-narrow-${short}`);
    await command(page, 'paddle-gpu:open-jobs');
    await take('#jp-PaddleGpu-jobsPage-tab')(`runs-narrow-${short}`);
  });
}
