/**
 * Every state of the panel, in the order in which one page reaches them: what it is called, and how one gets there from
 * the one before. Nothing in it reads a word, so that it holds in each language and beside any devices.
 */

import { execFileSync } from 'child_process';
import { mkdirSync, writeFileSync } from 'fs';
import { join } from 'path';
import type { Page } from '@playwright/test';

import { command, expect, openLab, openPanel } from '../fixtures';
import { KERNEL, type LabServer, notebook } from '../server';
import { gate, putGate } from './gate';

export interface IScene {
  page: Page;
  server: LabServer;
}

/** What of JupyterLab's notebook says whether its kernel is there. */
interface IShown {
  shell: {
    currentWidget: {
      sessionContext: { session: { kernel: { status: string } | null } | null };
    } | null;
  };
}

export interface IState {
  name: string;
  /** The part of the page that is looked at. */
  part: string;
  reach: (scene: IScene) => Promise<unknown>;
}

export const PANEL = '#jp-PaddleGpu-panel';
/** Where JupyterLab keeps its language. */
export const LANGUAGE = '@jupyterlab/translation-extension:plugin';
const ESTIMATED = `${PANEL} .jp-PaddleGpu-estimate[aria-busy=false]`;
const LAYER = `${PANEL} .jp-PaddleGpu-layer:not([open]):has(> summary)`;
const STEP = `loss.backward()
    optimizer.step()
    optimizer.clear_grad()`;
/** What many a notebook and its layers are called. */
const LONG = 'fine_tuning_a_pretrained_language_model_for_questions.ipynb';
/** Notebooks of states that no example has: name -> sources of code cells. */
const NOTEBOOKS = {
  'asks.ipynb': [
    `import json
import paddle
number_of_captions_in_the_file = len(json.load(open("captions.json")))
model = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(3):
    loss = model(paddle.ones([number_of_captions_in_the_file, 4])).mean()
    ${STEP}`
  ],
  'lacks.ipynb': [
    `import paddle
import absent_package
model = absent_package.Model()
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(3):
    loss = model(paddle.ones([8, 4])).mean()
    ${STEP}`
  ],
  'breaks.ipynb': [
    `import csv, io
rows = list(csv.DictReader(io.StringIO("size,price\\n3,120\\n5,180\\n")))
print(len(rows), "rows")`,
    `weights = [1.0 for row in rows]
for row, weight in zip(rows, weights):
    print(float(row["label"]) * weight)`
  ],
  'live.ipynb': [
    `import paddle
from paddle import nn
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
data = paddle.io.TensorDataset([paddle.rand([256, 64]), paddle.randint(0, 4, [256])])
loader = paddle.io.DataLoader(data, batch_size=32)`,
    `for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    ${STEP}`
  ],
  [LONG]: [
    `import paddle
from paddle import nn
class QuestionAnsweringHead(nn.Layer):
    def __init__(self):
        super().__init__()
        self.intermediate_projection_layer = nn.Linear(256, 4096)
        self.activation_between_projections = nn.GELU()
    def forward(self, x):
        return self.activation_between_projections(self.intermediate_projection_layer(x))
class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.transformer_encoder_layers = nn.LayerList([QuestionAnsweringHead()])
        self.classifier_of_the_answers = nn.Linear(4096, 4)
    def forward(self, x):
        return self.classifier_of_the_answers(self.transformer_encoder_layers[0](x))
class QuestionAnsweringModelWithPretrainedEncoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.pretrained_language_encoder = Encoder()
    def forward(self, x):
        return self.pretrained_language_encoder(x)
question_answering_model = QuestionAnsweringModelWithPretrainedEncoder()
optimizer = paddle.optimizer.AdamW(parameters=question_answering_model.parameters())`,
    `for step in range(300):
    x, y = paddle.rand([4096, 256]), paddle.randint(0, 4, [4096])
    loss = nn.functional.cross_entropy(question_answering_model(x), y)
    ${STEP}`
  ],
  'gan.ipynb': [
    `import paddle
from paddle import nn
generator = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784))
critic = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(), nn.Linear(128, 1))
ways = paddle.optimizer.Adam(2e-4, parameters=generator.parameters())
views = paddle.optimizer.Adam(2e-4, parameters=critic.parameters())`,
    `for step in range(200):
    false = critic(generator(paddle.randn([64, 64])).detach()).mean()
    false.backward()
    views.step()
    views.clear_grad()`,
    `for step in range(200):
    loss = -critic(generator(paddle.randn([64, 64]))).mean()
    loss.backward()
    ways.step()
    ways.clear_grad()`
  ]
};
const SCRIPT = NOTEBOOKS['asks.ipynb'][0].replace('len(json.load(open("captions.json")))', '8');

/** What the states need beside the examples; before the server's page is opened. */
export function furnish({ root, folder }: LabServer): void {
  for (const [name, cells] of Object.entries(NOTEBOOKS)) {
    writeFileSync(join(root, name), JSON.stringify(notebook(cells)));
  }
  writeFileSync(join(root, 'train.py'), SCRIPT);
  // A kernel that starts as any other, of an interpreter that has nothing.
  const bare = join(folder, 'bare');
  execFileSync(KERNEL, ['-m', 'venv', '--without-pip', bare]);
  const kernel = join(folder, 'share', 'jupyter', 'kernels', 'bare');
  mkdirSync(kernel, { recursive: true });
  const python = join(folder, 'bare-python');
  writeFileSync(
    python,
    `#!/bin/sh
case "$*" in *ipykernel_launcher*) exec ${KERNEL} "$@" ;; esac
exec ${join(bare, 'bin', 'python')} "$@"
`,
    { mode: 0o755 }
  );
  writeFileSync(
    join(kernel, 'kernel.json'),
    JSON.stringify({
      argv: [python, '-m', 'ipykernel_launcher', '-f', '{connection_file}'],
      display_name: 'Bare',
      language: 'python'
    })
  );
  const without = notebook(NOTEBOOKS['gan.ipynb']) as { metadata: object };
  without.metadata = { kernelspec: { name: 'bare', display_name: 'Bare', language: 'python' } };
  writeFileSync(join(root, 'bare.ipynb'), JSON.stringify(without));
}

/** Open JupyterLab with nothing but the panel. */
export async function enter({ page, server }: IScene): Promise<void> {
  await putGate(page);
  await open({ page, server });
}

/** Once more, as after a reload. */
export async function open({ page, server }: IScene): Promise<void> {
  await openLab(page, server);
  await openPanel(page);
}

/** Bring a notebook to the front, and wait until the panel is about it. */
export async function bring({ page }: IScene, path: string): Promise<void> {
  await command(page, 'docmanager:open', { path });
  await expect(page.locator(`${PANEL} .jp-PaddleGpu-name`).first()).toHaveText(path);
  // What it imports was read.
  await expect(page.locator(`${PANEL} .jp-PaddleGpu-submit button`).first()).toBeVisible();
}

/** Estimate what the panel is about. */
export async function estimate(scene: IScene, path: string): Promise<void> {
  await bring(scene, path);
  await scene.page.locator(`${PANEL} .jp-PaddleGpu-invitation button`).click();
}

/** Unfold all that the panel has, also what an explanation that was opened before lies over. */
async function unfold({ page }: IScene): Promise<void> {
  const folded = page.locator(`${PANEL} .jp-PaddleGpu-body [aria-expanded=false]`);
  for (let left = 40; left && (await folded.count()); left--) {
    // At once, for the last one may go while it is looked for: what was waited for is there without a click.
    await folded.evaluateAll((nodes: HTMLElement[]) => nodes[0]?.click());
  }
}

const shown = (scene: IScene, selector: string) =>
  expect(scene.page.locator(`${PANEL} ${selector}`).first()).toBeVisible({
    timeout: 180_000
  });

/** Wait for what comes after the number: advice, cards and curve, which a busy machine leaves for last. */
export const whole = ({ page }: IScene): Promise<void> =>
  expect(page.locator(`${PANEL} .jp-PaddleGpu-busy`)).toHaveCount(0, { timeout: 300_000 });

/** Jobs that a server has from an earlier walk are looked at again; what runs is another one in each. */
export const JOBS = { running: '', first: '', second: '', failed: '', sweep: '' };

export const PANEL_STATES: readonly IState[] = [
  {
    name: 'nothing open',
    part: PANEL,
    reach: scene => shown(scene, '.jp-PaddleGpu-empty')
  },
  {
    name: 'no training',
    part: PANEL,
    reach: scene => bring(scene, 'empty.ipynb')
  },
  {
    name: 'not estimated',
    part: PANEL,
    reach: async scene => {
      await bring(scene, 'digits_fit.ipynb');
      await shown(scene, '.jp-PaddleGpu-model');
    }
  },
  {
    name: 'estimating',
    part: PANEL,
    reach: async scene => {
      await gate(scene.page, 'placements', 'hold');
      await scene.page.locator(`${PANEL} .jp-PaddleGpu-invitation button`).click();
      await shown(scene, '.jp-PaddleGpu-busy');
    }
  },
  {
    name: 'estimated',
    part: PANEL,
    reach: async scene => {
      await gate(scene.page, 'placements', null);
      await scene.page.locator(ESTIMATED).waitFor({ timeout: 180_000 });
      await whole(scene);
    }
  },
  {
    name: 'everything unfolded',
    part: PANEL,
    reach: async scene => {
      await unfold(scene);
      await shown(scene, '.jp-PaddleGpu-remedies');
    }
  },
  {
    name: 'edited since',
    part: PANEL,
    reach: async scene => {
      const { page } = scene;
      await gate(page, 'placements', 'refuse');
      await page.locator('.jp-Notebook:visible .jp-CodeCell .cm-content').first().click();
      await page.keyboard.press('Control+Home');
      await page.keyboard.type('SEED = 7\n');
      await shown(scene, '[data-code=stale]');
      await gate(page, 'placements', null);
    }
  },
  {
    name: 'question open',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'asks.ipynb');
      await shown(scene, '.jp-PaddleGpu-question');
    }
  },
  {
    name: 'would stop',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'wine_broken.ipynb');
      await shown(scene, '[data-code^=would_stop]');
      // The cell, in whatever language.
      await expect(scene.page.locator('.jp-PaddleGpu-fitChip')).toContainText('6');
    }
  },
  {
    name: 'cell badge',
    part: '.jp-Cell .jp-PaddleGpu-cellBadge',
    reach: ({ page }) =>
      page.locator('.jp-Notebook:visible .jp-PaddleGpu-cellBadge').first().waitFor()
  },
  {
    name: 'package missing',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'lacks.ipynb');
      await scene.page.locator(ESTIMATED).waitFor({ timeout: 180_000 });
    }
  },
  {
    name: 'several trainings',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'gan.ipynb');
      await shown(scene, '.jp-PaddleGpu-trainings');
      await scene.page.locator(ESTIMATED).waitFor({ timeout: 180_000 });
    }
  },
  {
    name: 'long names',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, LONG);
      await scene.page.locator(ESTIMATED).waitFor({ timeout: 180_000 });
      await unfold(scene);
      const folded = scene.page.locator(`${PANEL} .jp-PaddleGpu-inside:not([open]), ${LAYER}`);
      for (let left = 9; left && (await folded.count()); left--) {
        await folded.evaluateAll((nodes: HTMLDetailsElement[]) =>
          nodes.forEach(node => (node.open = true))
        );
      }
      await whole(scene);
    }
  },
  {
    name: 'model in the kernel',
    part: PANEL,
    reach: async scene => {
      await bring(scene, 'live.ipynb');
      // Without a kernel JupyterLab would ask which.
      await scene.page.waitForFunction(
        () =>
          (window as unknown as { jupyterapp: IShown }).jupyterapp.shell.currentWidget
            ?.sessionContext.session?.kernel?.status === 'idle',
        null,
        { timeout: 180_000 }
      );
      await command(scene.page, 'notebook:run-cell');
      const models = scene.page.locator(`${PANEL} [role=group] button[aria-pressed]`);
      await expect(models.first()).toBeVisible({ timeout: 180_000 });
      await models.first().click();
      await expect(models.first()).toHaveAttribute('aria-pressed', 'true');
      await shown(scene, '.jp-PaddleGpu-big');
      await whole(scene);
    }
  },
  {
    name: 'without Paddle',
    part: PANEL,
    reach: async scene => {
      await estimate(scene, 'bare.ipynb');
      await scene.page.locator(ESTIMATED).waitFor({ timeout: 180_000 });
    }
  },
  {
    name: 'script',
    part: PANEL,
    reach: async scene => {
      await command(scene.page, 'paddle-gpu:estimate-script', { path: 'train.py' });
      await shown(scene, '.jp-PaddleGpu-big');
    }
  },
  {
    name: 'running',
    part: PANEL,
    reach: async scene => {
      const { page, server } = scene;
      server.hold(true);
      JOBS.running = await submitted(server, 'counting.ipynb');
      await bring(scene, 'counting.ipynb');
      await shown(scene, '.jp-PaddleGpu-job[data-state=running] [role=log]');
      await expect(page.locator('#jp-main-statusbar .jp-PaddleGpu-statusButton')).toBeVisible();
    }
  },
  {
    name: 'status bar',
    part: '#jp-main-statusbar .jp-PaddleGpu-statusButton',
    reach: async () => undefined
  }
];

/** Submit a notebook past the page; the job's id. */
export async function submitted(
  server: LabServer,
  path: string,
  more: object = {}
): Promise<string> {
  return ((await server.json('jobs', { path, ...more })) as { id: string }).id;
}
