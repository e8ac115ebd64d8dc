/** States beside two cards that are too small for one of two trainings. See `panel.ts`. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { wide } from '../cards';
import { ended, expect } from '../fixtures';
import { type LabServer, notebook } from '../server';
import { estimate, type IState, PANEL, submitted, whole } from './panel';
import { openTab, VIEW } from './pages';

/** Read as one that trains in several processes; what it does is quick. */
const TOGETHER = `import os
if "NEVER" in os.environ:
    import paddle
    net = paddle.DataParallel(paddle.nn.Linear(1, 1))
for step in range(1, 6):
    print("rank", os.environ.get("PADDLE_TRAINER_ID"), f"step {step}/5 loss {1 / step:.3f}")`;

/** The job of two processes of each server: a walk in another language has a server of its own. */
const BOTH = new WeakMap<LabServer, string>();

/** What these states need beside the examples. */
export function furnishCards({ root }: LabServer): void {
  writeFileSync(join(root, 'wide.ipynb'), JSON.stringify(wide()));
  writeFileSync(join(root, 'small.ipynb'), JSON.stringify(wide(64)));
  writeFileSync(join(root, 'together.ipynb'), JSON.stringify(notebook([TOGETHER])));
}

export const CARD_STATES: readonly IState[] = [
  {
    name: 'fits nowhere',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'wide.ipynb');
      const refusal = scene.page.locator(`${PANEL} [data-code=fits_nowhere]`);
      await expect(refusal.getByRole('button').first()).toBeVisible({ timeout: 180_000 });
      await whole(scene);
    }
  },
  {
    name: 'beside cards',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'small.ipynb');
      await expect(scene.page.locator(`${PANEL} .jp-PaddleGpu-big`)).toBeVisible({
        timeout: 180_000
      });
      await whole(scene);
    }
  },
  {
    name: 'job of two processes, ranks',
    part: VIEW,
    reach: async scene => {
      const { server } = scene;
      const both =
        BOTH.get(server) ??
        (await submitted(server, 'together.ipynb', { resources: { gpus: 2 } }));
      BOTH.set(server, both);
      await ended(server, both);
      await openTab(scene, both, 4);
      const lines = scene.page.locator(`${VIEW} .jp-PaddleGpu-tail`);
      await expect(lines).toHaveCount(2);
      await expect(lines.last()).toContainText('rank 1');
    }
  },
  {
    name: 'job of two processes, log of the second',
    part: VIEW,
    reach: async ({ page }) => {
      await page.locator(`${VIEW} .jp-PaddleGpu-card button`).last().click();
      const log = page.locator(`${VIEW} .jp-PaddleGpu-log`);
      await expect(log).toContainText('rank 1 step 5/5');
    }
  }
];
