/**
 * Takes the pictures of the panel: empty, estimated, running, done, stopped by an error, failed; light and dark, English
 * and Chinese, narrow and wide. Run by `jlpm screenshots`; nothing is compared with them.
 */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { command, expect, jobRow, openNotebook, openPanel, test } from '../fixtures';
import { notebook } from '../server';
import {
  both,
  COMFORTABLE,
  NARROW,
  picture,
  setLanguage,
  setWidth,
  WIDE,
  wholePage
} from './pictures';

// An announcement would lie over the jobs.
test.use({ serverOptions: { settings: { 'jupyter-paddle-gpu:plugin': { notify: false } } } });

/** Two trainings in one notebook: a discriminator and what it judges. */
const GAN = `import paddle
from paddle import nn

generator = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 784))
critic = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(), nn.Linear(512, 1))
ways = paddle.optimizer.Adam(2e-4, parameters=generator.parameters())
views = paddle.optimizer.Adam(2e-4, parameters=critic.parameters())`;
const CRITIC = `for step in range(200):
    real = critic(paddle.rand([256, 784])).mean()
    false = critic(generator(paddle.randn([256, 64])).detach()).mean()
    (false - real).backward()
    views.step()
    views.clear_grad()`;
const GENERATOR = `for step in range(200):
    loss = -critic(generator(paddle.randn([256, 64]))).mean()
    loss.backward()
    ways.step()
    ways.clear_grad()`;

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test(`panel ${language}`, async ({ page, server }) => {
    test.setTimeout(400_000);
    writeFileSync(
      join(server.root, 'gan.ipynb'),
      JSON.stringify(notebook([GAN, CRITIC, GENERATOR]))
    );
    await setLanguage(page, server, language);
    await openNotebook(page, server, 'digits_loop.ipynb');
    const panel = await openPanel(page);
    const take = (name: string) => picture(page, panel, name);
    const estimate = async () => {
      await panel.locator('.jp-PaddleGpu-invitation button').click();
      await expect(panel.locator('.jp-PaddleGpu-estimate')).toBeVisible();
      // Advice, cards and curve come after the number.
      await page.waitForTimeout(1_000);
      await expect(panel.locator('.jp-PaddleGpu-busy, .jp-PaddleGpu-spinner')).toHaveCount(0);
    };
    const other = async (name: string) => {
      await openNotebook(page, server, name);
      await openPanel(page);
      await setWidth(page, panel, COMFORTABLE);
    };
    await setWidth(page, panel, COMFORTABLE);
    await expect(panel.locator('.jp-PaddleGpu-model')).toBeVisible();
    await both(page, 'empty', short, take);

    await estimate();
    await both(page, 'estimate', short, take);
    for (const [name, width] of [
      ['narrow', NARROW],
      ['wide', WIDE]
    ] as const) {
      await setWidth(page, panel, width);
      await take(`${name}-light-${short}`);
    }
    await setWidth(page, panel, COMFORTABLE);

    await command(page, 'paddle-gpu:submit');
    const row = jobRow(panel, 'digits_loop');
    await expect(row.getByRole('log')).toContainText('epoch 3/4', { timeout: 120_000 });
    await both(page, 'running', short, take);
    await expect(row).toHaveAttribute('data-state', 'succeeded', { timeout: 120_000 });
    await both(page, 'done', short, name => wholePage(page, name));

    // What an estimate says of a notebook that would stop, and what its job says.
    await other('wine_broken.ipynb');
    await estimate();
    await expect(panel.locator('[data-code^=would_stop]')).toBeVisible({ timeout: 120_000 });
    await both(page, 'stop', short, take);
    await command(page, 'paddle-gpu:submit');
    const failed = jobRow(panel, 'wine_broken');
    // The new one, which shows its log, not one of another language.
    await expect(failed.getByRole('log')).toBeVisible();
    await expect(failed).toHaveAttribute('data-state', 'failed', { timeout: 90_000 });
    await both(page, 'failed', short, name => picture(page, panel, name, true));

    await other('gan.ipynb');
    await estimate();
    await both(page, 'trainings', short, take);
  });
}
