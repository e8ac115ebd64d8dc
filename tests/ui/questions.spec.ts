/** What is missing is said as what it is: a file by a field for its place, a package by the line that installs it. */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { expect, openPanel, test, turnTo } from './fixtures';
import { notebook } from './server';

const TRAINING = `optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(5):
    loss = net(paddle.rand([32, 64])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()`;

test.use({ sharesPage: true });

test('a file is asked for by its name, and the answer gives the figure', async ({
  page,
  server
}) => {
  const here = join(server.folder, 'here.csv');
  writeFileSync(here, '4\n6\n');
  const cells = [
    "import paddle\nrows = [float(row) for row in open('/absent/rows.csv')]",
    'net = paddle.nn.Linear(64, int(sum(rows)))',
    TRAINING
  ];
  writeFileSync(join(server.root, 'path.ipynb'), JSON.stringify(notebook(cells)));
  await turnTo(page, server, 'path.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const field = panel.locator('input[data-kind="path"]');
  await expect(field).toBeVisible({ timeout: 180_000 });
  await expect(panel.locator('code').getByText('rows_csv')).toBeVisible();
  await expect(panel.getByText('“/absent/rows.csv”')).toBeVisible();
  await field.fill(here);
  await field.press('Enter');
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
  await expect(field).toHaveCount(0);
});

test('what the notebook printed of a batch is suggested, and an environment variable stays a text of the job', async ({
  page,
  server
}) => {
  const cells = [
    "import os\nimport numpy as np\nimport paddle\nWIDTH = int(os.environ['WIDTH'])\nrows = np.load('absent.npy')",
    'loader = paddle.io.DataLoader(paddle.io.TensorDataset([rows]), batch_size=8)\nfor (x,) in loader:\n    print(x.shape)\n    break',
    'net = paddle.nn.Linear(64, WIDTH)',
    TRAINING.replace('range(5)', 'loader').replace('paddle.rand([32, 64])', 'step[0]')
  ];
  const content = notebook(cells) as { cells: { outputs: object[] }[] };
  const text = '[8, 5, 64]\n';
  content.cells[1].outputs = [{ output_type: 'stream', name: 'stdout', text }];
  writeFileSync(join(server.root, 'printed.ipynb'), JSON.stringify(content));
  await turnTo(page, server, 'printed.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const width = panel.locator('input[data-kind="environment"]');
  await width.fill('16');
  await width.press('Enter');
  const batch = panel.locator('input[data-kind="batch"]');
  await expect(batch).toHaveValue('float32[8,5,64]', { timeout: 180_000 });
  await batch.press('Enter');
  await expect(panel.locator('.jp-PaddleGpu-big')).toBeVisible({ timeout: 180_000 });
});

test('a package is named with the line that installs it', async ({ page, server }) => {
  const cells = [
    'import paddle\nimport absent_losses',
    'net = paddle.nn.Linear(64, 10)',
    TRAINING.replace('.mean()', '.mean() * absent_losses.weight(step)')
  ];
  writeFileSync(join(server.root, 'package.ipynb'), JSON.stringify(notebook(cells)));
  await turnTo(page, server, 'package.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await expect(panel.getByText('%pip install absent_losses')).toBeVisible({ timeout: 180_000 });
  await expect(panel.getByText('lacks a package')).toBeVisible();
});
