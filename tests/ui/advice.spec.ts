/** Advice that acts: shown as a difference, written into the notebook, taken back whole by Ctrl+Z in one of its cells. */

import { readFileSync, writeFileSync } from 'fs';
import { join } from 'path';

import type { Locator, Page } from '@playwright/test';

import { expect, openPanel, submitButton, test, turnTo } from './fixtures';
import { notebook } from './server';

const LOOP = `import paddle
paddle.set_device('gpu')
net = paddle.nn.Linear(64, 64)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    loss = net(paddle.rand([256, 64])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()`;

const CELLS = [
  `import paddle
from paddle import nn
BATCH_SIZE = 64`,
  `net = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(4)], nn.Linear(64, 8))
opt = paddle.optimizer.AdamW(parameters=net.parameters())`,
  `data = paddle.io.TensorDataset([paddle.rand([512, 64])])
for x, in paddle.io.DataLoader(data, batch_size=BATCH_SIZE):
    loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()`
];
/** What is asked, by the field's name, and what the copy has then. */
const REMEDIES: [string, string, string][] = [
  ['amp', 'O1', 'auto_cast'],
  ['amp', 'O2', 'decorate'],
  ['recompute', 'recomputed', 'recompute'],
  ['accumulation', '4', '/ 4'],
  ['batch_size', '16', 'BATCH_SIZE = 16'],
  ['set_to_zero', 'freed', 'set_to_zero=False']
];

test.use({ sharesPage: true });

test('a difference is shown, written, and taken back', async ({ page, server }) => {
  test.slow();
  writeFileSync(join(server.root, 'advice.ipynb'), JSON.stringify(notebook([LOOP])));
  await turnTo(page, server, 'advice.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const stops = panel.getByText('On the CPU the notebook would stop in cell 1, line 2');
  await expect(stops).toBeVisible({ timeout: 180_000 });
  await panel.getByRole('button', { name: 'Take the CPU there' }).click();
  await expect(panel.getByText("+paddle.set_device('cpu')")).toBeVisible();
  await expect(stops).toBeHidden();
  await panel.getByRole('button', { name: 'more, what if…' }).click({ timeout: 180_000 });
  await panel.getByLabel('Gradients between steps').selectOption({ label: 'freed' });
  await panel.getByRole('button', { name: 'Estimate with these' }).click();
  const added = panel.getByText('+    opt.clear_grad(set_to_zero=False)');
  await expect(added).toBeVisible({ timeout: 120_000 });
  // However much stands above it, Submit is in view.
  await page.setViewportSize({ width: 900, height: 560 });
  await expect(submitButton(panel)).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 1400, height: 1000 });
  const cell = page.locator('.jp-NotebookPanel .jp-Cell').first();
  await expect(cell).not.toContainText('set_to_zero');
  await panel.getByRole('button', { name: 'Write into the notebook' }).click();
  await expect(cell).toContainText('opt.clear_grad(set_to_zero=False)');
  await expect(added).toBeHidden();
  await cell.locator('.cm-content').click();
  await page.keyboard.press('Control+z');
  await expect(cell).not.toContainText('set_to_zero');
  await expect(cell).toContainText('opt.clear_grad()');
});

/** The text of all cells, as the notebook has it. */
async function sources(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { jupyterapp } = window as unknown as {
      jupyterapp: {
        shell: {
          currentWidget: {
            content: { model: { sharedModel: { cells: { getSource(): string }[] } } };
          };
        };
      };
    };
    const { cells } = jupyterapp.shell.currentWidget.content.model.sharedModel;
    return cells.map(cell => cell.getSource());
  });
}

async function ask(panel: Locator, name: string, value: string): Promise<void> {
  const more = panel.getByRole('button', { name: 'more, what if…' });
  const field = panel.locator(`[name="${name}"]`);
  if (!(await field.isVisible())) {
    await more.click({ timeout: 180_000 });
  }
  if ((await field.evaluate(one => one.tagName)) === 'SELECT') {
    await field.selectOption({ label: value });
  } else {
    await field.fill(value);
  }
  await panel.getByRole('button', { name: 'Estimate with these' }).click();
}

test('each remedy that was written is taken back whole', async ({ page, server }) => {
  test.slow();
  writeFileSync(join(server.root, 'undone.ipynb'), JSON.stringify(notebook(CELLS)));
  await turnTo(page, server, 'undone.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  const before = await sources(page);
  for (const [name, value, written] of REMEDIES) {
    await ask(panel, name, value);
    const difference = panel.getByLabel('What is different in the copy');
    await expect(difference).toContainText(written, { timeout: 120_000 });
    await panel.getByRole('button', { name: 'Write into the notebook' }).click();
    const changed = await sources(page);
    expect(changed.join('\n')).toContain(written);
    const at = changed.findIndex((text, index) => text !== before[index]);
    await page.locator('.jp-NotebookPanel .jp-Cell .cm-content').nth(at).click();
    await page.keyboard.press('Control+z');
    await expect.poll(() => sources(page), { message: `${name} ${value}` }).toEqual(before);
    await panel.getByRole('button', { name: 'Estimate again' }).click();
    await expect(difference).toBeHidden();
  }
});

test('a number in a file of settings is shown, written and taken back there', async ({
  page,
  server
}) => {
  test.slow();
  const settings = join(server.root, 'settings.json');
  const text = '{\n  "train": {"batch_size": 64},\n  "eval": {"batch_size": 64}\n}\n';
  writeFileSync(settings, text);
  const [head, ...others] = CELLS;
  const reads = head
    .replace('BATCH_SIZE = 64', "cfg = json.load(open('settings.json'))['train']")
    .replace('import paddle', 'import json\nimport paddle');
  const cells = [reads, ...others.map(one => one.replace('BATCH_SIZE', "cfg['batch_size']"))];
  writeFileSync(join(server.root, 'settings.ipynb'), JSON.stringify(notebook(cells)));
  await turnTo(page, server, 'settings.ipynb');
  const panel = await openPanel(page);
  await panel.getByRole('button', { name: 'Estimate', exact: true }).click();
  await ask(panel, 'batch_size', '16');
  const difference = panel.getByLabel('What is different in the copy');
  await expect(difference).toContainText('+  "train": {"batch_size": 16},', {
    timeout: 120_000
  });
  await expect(difference).toContainText('+++ settings.json');
  expect(readFileSync(settings, 'utf-8')).toBe(text);
  await panel.getByRole('button', { name: 'Write into settings.json' }).click();
  const editor = page.locator('.jp-FileEditor .cm-content');
  await expect(editor).toContainText('"train": {"batch_size": 16}');
  await expect(difference).toBeHidden({ timeout: 120_000 });
  expect(readFileSync(settings, 'utf-8')).toBe(text.replace('64', '16'));
  await editor.click();
  await page.keyboard.press('Control+z');
  await expect(editor).toContainText('"train": {"batch_size": 64}');
});
