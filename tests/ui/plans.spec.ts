/** Sweeps and schedules: from a job's form and from the submit dialog to the page of jobs; by keys, too. */

import {
  command,
  ended,
  expect,
  openLab,
  openNotebook,
  openPanel,
  submitRuns,
  test,
  unhurried
} from './fixtures';

interface IJob {
  id: string;
  ended: number | null;
  spec: { trial: number | null };
}

interface ISweep {
  id: string;
  state: string;
  best: number | null;
  trials: { values: Record<string, number>; job_id: string }[];
}

test('several values make a sweep, and a schedule is paused, deleted and taken back', async ({
  page,
  server
}) => {
  await ended(server, await submitRuns(server));
  await openLab(page, server);
  await command(page, 'paddle-gpu:open-jobs');
  const view = page.locator('.jp-PaddleGpu-jobsPage');
  const rows = view.locator('tbody tr[data-state]');
  await rows.first().getByRole('checkbox').check();
  await view.getByRole('button', { name: 'Re-run with…' }).click();

  // A list in a field is a sweep; the form says how it is gone through.
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('BATCH_SIZE')).toBeFocused();
  const rate = dialog.getByLabel('LEARNING_RATE');
  // The button says what it does, as the form is now.
  const again = (name: string) => dialog.getByRole('button', { name, exact: true });
  await expect(again('Re-run')).toBeVisible();
  await rate.fill('0.1:0.5');
  await expect(dialog).toContainText('Each trial is a run of its own');
  // What is refused is said in the form, which takes the next try.
  await again('Start the trials').click();
  await expect(dialog.getByRole('alert')).toContainText('any value from 0.1 to 0.5');
  await rate.fill('0.1, 0.5');
  await expect(dialog.getByRole('alert')).toHaveCount(0);
  await expect(dialog.getByLabel('Try')).toContainText('all combinations: 2 runs');
  await dialog.getByLabel('At once, at most').fill('2');
  await expect(again('Start 2 trials')).toHaveText('Start 2 trials');
  await dialog.getByLabel('BATCH_SIZE').fill('32, 64, 128');
  await expect(again('Start 6 trials')).toBeVisible();
  await dialog.getByLabel('Try').selectOption('random');
  await dialog.getByLabel('Trials', { exact: true }).fill('4');
  await expect(again('Start 4 trials')).toBeVisible();
  await dialog.getByLabel('Try').selectOption('grid');
  await dialog.getByLabel('BATCH_SIZE').fill('64');
  await again('Start 2 trials').click();

  // One row among the jobs, unfolded with its trials.
  const row = view.locator('tr[data-sweep]');
  await expect(row).toHaveCount(1);
  await expect(view.getByRole('img', { name: /^2 trials as lines/ })).toBeVisible();
  await expect(row).toContainText('2 of 2 trials', { timeout: 180_000 });
  const swept = async () => ((await server.json('sweeps')) as { sweeps: ISweep[] }).sweeps;
  await expect.poll(async () => (await swept())[0].state).toBe('succeeded');
  const sweeps = await swept();
  await expect(row).toContainText(/best acc/);
  expect(sweeps[0].trials.map(({ values }) => values)).toEqual([
    { LEARNING_RATE: 0.1 },
    { LEARNING_RATE: 0.5 }
  ]);
  // The sweep and the jobs, other tests' among them, but not its trials.
  const { jobs } = (await server.json('jobs')) as { jobs: IJob[] };
  await expect(rows).toHaveCount(1 + jobs.filter(job => job.spec.trial === null).length);
  const trials = view.getByRole('region', { name: /^Trials of/ });
  await expect(
    trials.getByRole('rowheader', { name: `${sweeps[0].best} (best)` })
  ).toBeVisible();
  await expect(trials.getByRole('link', { name: 'Export CSV' })).toHaveAttribute(
    'href',
    /sweeps\/.*\/table/
  );

  // At each width of the page the trials have all of it.
  const sized = page.locator('.jp-PaddleGpu:has(.jp-PaddleGpu-jobsPage)');
  for (const width of [400, 600, 660, 700, 760, 1000]) {
    const shares = await sized.evaluate((page: HTMLElement, to) => {
      page.style.width = `${to}px`;
      const unfolded = page.querySelector('.jp-PaddleGpu-unfolded > td')?.clientWidth ?? 0;
      return unfolded / (page.querySelector('.jp-PaddleGpu-table')?.clientWidth ?? 0);
    }, width);
    expect(shares, `${width} px`).toBeGreaterThan(0.9);
  }
  await sized.evaluate((page: HTMLElement) => (page.style.width = ''));

  // By keys: fold, unfold, to a trial's job.
  const name = row.getByRole('button', { expanded: true });
  await name.focus();
  await page.keyboard.press('Enter');
  await expect(trials).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(trials).toBeVisible();
  await trials
    .getByRole('button', { name: '1', exact: true })
    .or(trials.getByRole('button', { name: '1 (best)' }))
    .focus();
  await page.keyboard.press('Enter');
  await expect(
    page.locator('.jp-PaddleGpu-view:visible').getByRole('heading', { level: 1 })
  ).toContainText('runs');

  // A schedule, made elsewhere, stands above the jobs with its next dates.
  await server.json('schedules', {
    path: 'runs.ipynb',
    cron: '0 2 * * *',
    zone: 'Asia/Shanghai'
  });
  await command(page, 'paddle-gpu:open-jobs');
  const item = view.locator('li[data-schedule]');
  await expect(item).toContainText('next:');
  await item.getByRole('button', { name: /^Pause/ }).focus();
  await page.keyboard.press('Enter');
  await expect(item).toContainText('paused');
  await item.getByRole('button', { name: /^Resume/ }).click();
  await expect(item.getByRole('button', { name: /^Pause/ })).toBeVisible();
  await unhurried(page, async () => {
    await item.getByRole('button', { name: /^Delete/ }).click();
    await expect(view.getByRole('button', { name: 'Undo' })).toBeFocused();
  });
  await expect(item).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(item).toContainText('next:');
});

test('the submit dialog makes a schedule and a sweep', async ({ page, server }) => {
  await openNotebook(page, server, 'digits_loop.ipynb');
  const panel = await openPanel(page);
  const open = panel
    .getByRole('region', { name: 'Submit' })
    .getByRole('button', { name: 'Change…' });
  const dialog = page.getByRole('dialog');
  await open.click();
  const when = dialog.getByRole('group', { name: 'When' });
  await when.getByRole('radio', { name: 'again and again' }).check();
  // What is asked stands beneath the choice, and the next dates are the server's.
  await when.getByLabel('How often').selectOption({ label: 'on Saturdays at 2' });
  await expect(when.getByLabel(/^Cron expression/)).toHaveValue('0 2 * * 6');
  await expect(when.getByRole('status')).toContainText('next:');
  await expect(dialog.getByText('Try several values')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Submit' }).click();
  const view = page.locator('.jp-PaddleGpu-jobsPage');
  await expect(view.locator('li[data-schedule]', { hasText: 'digits_loop' })).toContainText(
    'next:'
  );

  await open.click();
  await dialog.getByText('Try several values').click();
  const batch = dialog.getByLabel('batch_size');
  await batch.fill('64, 32');
  const atOnce = dialog.getByLabel('At once, at most');
  await expect(atOnce).toBeVisible();
  await batch.fill('');
  await expect(atOnce).toHaveCount(0);
  await expect(batch).toBeFocused();
  await batch.fill('32, 64');
  await atOnce.fill('1');
  // Nothing of it is cut: it is as high as what it asks, up to the window.
  const cut = await dialog
    .locator('.jp-Dialog-content')
    .evaluate(node => node.getBoundingClientRect().height);
  expect(cut).toBeGreaterThan(600);
  await dialog.getByRole('button', { name: 'Start 2 trials' }).click();
  await expect(view.locator('tr[data-sweep]', { hasText: 'digits_loop' })).toContainText(
    'of 2 trials'
  );
  const { sweeps } = (await server.json('sweeps')) as { sweeps: ISweep[] };
  const made = sweeps.find(({ trials }) => 'batch_size' in trials[0].values);
  expect(made?.trials.map(({ values }) => values)).toEqual([
    { batch_size: 32 },
    { batch_size: 64 }
  ]);
  // Nothing of it runs on when the server's folder is removed.
  await server.json(`sweeps/${made?.id}/cancel`, {});
  await expect
    .poll(
      async () => ((await server.json('jobs')) as { jobs: IJob[] }).jobs.map(one => one.ended),
      {
        timeout: 180_000
      }
    )
    .not.toContain(null);
});
