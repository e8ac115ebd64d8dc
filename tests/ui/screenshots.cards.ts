/** Takes the pictures of live cards, of a question and of what-if, with a stand-in for NVML's library. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { expect, openNotebook, openPanel, test } from './fixtures';
import { both, COMFORTABLE, picture, setLanguage, setWidth } from './pictures';
import { notebook } from './server';

const GIB = 2 ** 30;
const CARDS = [
  'count 3',
  `used 0 ${20 * GIB}`,
  `used 1 ${80 * GIB}`,
  `process 1 1 ${79 * GIB}`,
  'memory 2 15'
];
const TAGGER = [
  `import paddle
from paddle import nn
vocab_size = len(open("corpus.txt").read().split())
LENGTH = 128`,
  `class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 256)
        self.lstm = nn.LSTM(256, 512, num_layers=2)
        self.head = nn.Linear(512, 9)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])

model = Tagger()
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())`,
  `for step in range(200):
    x = paddle.randint(0, vocab_size, [256, LENGTH])
    y = paddle.randint(0, 9, [256, LENGTH])
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()`
];

test.use({ serverOptions: { cards: CARDS, environment: { PADDLE_GPU_SIMULATE: 'RTX 4090' } } });

for (const language of ['en', 'zh_CN'] as const) {
  const short = language.slice(0, 2);

  test(`cards ${language}`, async ({ page, server }) => {
    test.setTimeout(300_000);
    writeFileSync(join(server.root, 'tagger.ipynb'), JSON.stringify(notebook(TAGGER)));
    await setLanguage(page, server, language);
    await openNotebook(page, server, 'tagger.ipynb');
    const panel = await openPanel(page);
    await setWidth(page, panel, COMFORTABLE);
    const take = (name: string) => picture(page, panel, name);
    await panel.locator('.jp-PaddleGpu-invitation button').click();
    const answer = panel.locator('.jp-PaddleGpu-question input');
    await expect(answer).toBeVisible({ timeout: 120_000 });
    await answer.fill('30000');
    await take(`question-light-${short}`);
    await answer.press('Enter');
    await expect(panel.locator('.jp-PaddleGpu-remedies')).toBeVisible({ timeout: 120_000 });
    await both(page, 'cards', short, take);
    await panel.locator('.jp-PaddleGpu-whatIf > summary').click();
    const length = panel.locator('.jp-PaddleGpu-whatIf input').nth(1);
    await length.fill('512');
    await length.press('Enter');
    await expect(panel.locator('.jp-mod-wish')).toHaveCount(2);
    await expect(panel.locator('.jp-PaddleGpu-busy')).toHaveCount(0, { timeout: 120_000 });
    await take(`whatif-light-${short}`);
  });
}
