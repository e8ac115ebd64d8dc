/**
 * Beside two cards. A training that fits neither: the sentence, the way out that leads on, and whoever insists; in Chinese
 * as well. One of two processes, of which one fails: what each has written.
 */

import { writeFileSync } from 'fs';
import { join } from 'path';

import { faults } from './axe';
import { SMALL_CARDS } from './cards';
import {
  command,
  expect,
  jobRow,
  openLab,
  openNotebook,
  openPanel,
  test,
  turnTo
} from './fixtures';
import { notebook } from './server';
import { CARD_STATES, furnishCards } from './states/cards';
import { bring, enter, LANGUAGE, PANEL, submitted } from './states/panel';

test.use({ serverOptions: { cards: SMALL_CARDS }, sharesPage: true });

/** Words of ours that would stand there in English. */
const ENGLISH = /Estimate|Submit|Jobs|machine|epoch|processor|batch size|fits/;

/** Lines that the second process writes before it waits; more than is fetched at once. */
const WRITTEN = 3_000;
/** Read as one that trains in several processes; what it does is quick, and needs none. */
const SHARDS = `import os, sys, time
if "NEVER" in os.environ:
    import paddle
    net = paddle.DataParallel(paddle.nn.Linear(1, 1))
rank = os.environ.get("PADDLE_TRAINER_ID")
if rank == "1":
    for line in range(${WRITTEN}):
        print("shard", line, "of the second")
    sys.stdout.flush()
while os.path.exists("hold"):
    time.sleep(0.05)
if rank == "1":
    print("let go", flush=True)
    raise ValueError("bad shard")
time.sleep(600)`;

// First, while there is no job whose own lines are English.
test('panel, server and commands speak Chinese, also of what fits nothing', async ({
  page,
  server
}) => {
  furnishCards(server);
  server.set(LANGUAGE, { locale: 'zh_CN' });
  try {
    await openLab(page, server, 'digits_fit.ipynb');
  } finally {
    server.set(LANGUAGE, { locale: 'default' });
  }
  const panel = await openPanel(page);
  await expect(panel.getByRole('button', { name: '批大小 64, 跳到单元格 9' })).toBeVisible();
  await expect(panel.getByRole('button', { name: '提交 digits_fit.ipynb' })).toBeVisible();
  await expect(panel.getByRole('region', { name: '设备' })).toContainText('GPU');
  await expect(
    page.locator('.jp-NotebookPanel-toolbar').getByRole('button', { name: '提交训练' })
  ).toBeVisible();
  await expect(panel).not.toContainText(ENGLISH);

  await bring({ page, server }, 'wide.ipynb');
  await panel.locator('.jp-PaddleGpu-invitation button').click();
  const submit = panel.getByRole('region', { name: '提交' });
  const refusal = submit.locator('[data-code=fits_nowhere]');
  await expect(refusal.getByRole('button', { name: /^批大小 [\d,]+$/ })).toBeVisible();
  await expect(panel).not.toContainText(ENGLISH);
  expect(await faults(page, PANEL)).toEqual([]);
  await submit.getByRole('button', { name: '更改…' }).press('Enter');
  const dialog = page.locator('.jp-Dialog-content');
  await expect(dialog).toBeVisible();
  await expect(dialog).not.toContainText(ENGLISH);
  expect(await faults(page, '.jp-Dialog-content')).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  // JupyterLab itself shows our settings, by what it has of the schema's words.
  await command(page, 'settingeditor:open', { query: 'Paddle GPU' });
  const settings = page.locator('.jp-SettingsPanel');
  await expect(settings).toContainText('面板所在的侧边栏');
  await expect(settings).toContainText('训练单元格上的标记');
  await expect(settings).not.toContainText(/panel|notebook|Estimate|job/);
});

test('no state beside cards has a fault', async ({ page, server }) => {
  furnishCards(server);
  await enter({ page, server });
  for (const { name, part, reach } of CARD_STATES) {
    await test.step(name, async () => {
      await reach({ page, server });
      expect.soft(await faults(page, part), name).toEqual([]);
    });
  }
});

test('the log of each process is whole, live and searched, and leads to its error', async ({
  page,
  server
}) => {
  writeFileSync(join(server.root, 'shards.ipynb'), JSON.stringify(notebook([SHARDS])));
  server.hold(true);
  const id = await submitted(server, 'shards.ipynb', { resources: { gpus: 2 } });
  await openNotebook(page, server, 'shards.ipynb');
  await command(page, 'paddle-gpu:open-job', { id });
  const view = page.locator('.jp-PaddleGpu-view');
  await view.getByRole('tab', { name: 'Ranks' }).click();
  const newest = view.getByRole('log', { name: 'Last lines of rank 1' });
  await expect(newest).toContainText(`shard ${WRITTEN - 1} of the second`);
  await view.getByRole('button', { name: 'Open the log of rank 1' }).click();

  await expect(view.getByRole('tab', { name: 'Log' })).toHaveAttribute('aria-selected', 'true');
  const rank = view.getByRole('combobox', { name: 'Rank' });
  await expect(rank).toHaveValue('1');
  const log = view.getByRole('log');
  await expect(log).toContainText(`shard ${WRITTEN - 1} of the second`);
  // All of it is there to be searched, also what was not drawn yet.
  await view.getByRole('searchbox').fill('shard 17 of');
  await expect(view.getByRole('search')).toContainText('1 of 1');
  await expect(log.locator('mark')).toHaveText('shard 17 of');
  await view.getByRole('searchbox').fill('');
  await view.getByRole('checkbox', { name: 'Follow' }).check();

  // What comes now is drawn as it comes.
  server.hold(false);
  await expect(log).toContainText('let go');
  const jump = view.getByRole('button', { name: 'Jump to the error' });
  await expect(jump).toBeVisible();

  // By keyboard to the first one's, which was only stopped, and by the error back; kept while other tabs are looked at.
  await rank.press('ArrowUp');
  await expect(rank).toBeFocused();
  await expect(rank).toHaveValue('0');
  await expect(log).not.toContainText('of the second');
  await jump.click();
  await expect(rank).toHaveValue('1');
  await expect(log.locator('.jp-mod-found')).toContainText('Traceback');
  await view.getByRole('tab', { name: 'Overview' }).click();
  await view.getByRole('tab', { name: 'Log' }).click();
  await expect(rank).toHaveValue('1');
  // What is said of the failure leads there as well.
  await rank.selectOption('0');
  const why = view.getByRole('alert');
  await expect(why.getByRole('button', { name: 'See it as executed' })).toHaveCount(0);
  await why.getByRole('button', { name: 'Open the log of rank 1' }).click();
  await expect(rank).toHaveValue('1');
  const link = await view.getByRole('link', { name: 'Download' }).getAttribute('href');
  const file = await (await fetch(new URL(link ?? '', server.url))).text();
  expect(file.split('\n').filter(line => /^shard \d+ of the second$/.test(line))).toHaveLength(
    WRITTEN
  );
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await view.getByRole('button', { name: 'Copy', exact: true }).click();
  await expect(view.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    'ValueError: bad shard'
  );

  // A line of its traceback leads to the cell of the source.
  await view.getByRole('button', { name: 'cell 1, line 14', exact: true }).first().click();
  await expect(page.locator('.jp-NotebookPanel:visible .jp-Cell.jp-mod-active')).toContainText(
    'bad shard'
  );
});

test('a batch that fits is one click away, and so is to insist', async ({ page, server }) => {
  furnishCards(server);
  await turnTo(page, server, 'wide.ipynb');
  const panel = await openPanel(page);
  const submit = panel.getByRole('region', { name: 'Submit' });
  const refusal = submit.locator('[data-code=fits_nowhere]');
  // The test before has estimated it, where there was one.
  const estimate = panel.locator('.jp-PaddleGpu-invitation button');
  await expect(estimate.or(refusal)).toBeVisible();
  if (await estimate.isVisible()) {
    await estimate.click();
  }
  await expect(refusal).toContainText('the largest card here offers at most 19.9 GiB', {
    timeout: 180_000
  });
  const way = refusal.getByRole('button', { name: /^Batch size [\d,]+$/ });
  await expect(way).toBeVisible({ timeout: 180_000 });
  const batch = /[\d,]+/.exec((await way.textContent()) ?? '')?.[0] ?? '';
  await expect(refusal).toContainText(`Fits with batch size ${batch}`);

  // The way out is asked for, and the training has a card.
  await way.click();
  await expect(panel).toContainText(`with batch ${batch}`);
  await expect(refusal).toBeHidden({ timeout: 180_000 });
  await expect(submit).toContainText('GPU 0');
  await panel.getByRole('button', { name: `Take back: with batch ${batch}` }).click();
  await expect(refusal).toBeVisible({ timeout: 180_000 });

  // Whoever insists gets a job whose row says so.
  await refusal.getByRole('button', { name: 'Submit anyway' }).click();
  await expect(jobRow(panel, 'wide')).toContainText('Submitted anyway: Needs');
});
