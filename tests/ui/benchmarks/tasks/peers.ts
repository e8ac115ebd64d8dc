/** The same tasks with jupyter-scheduler and jupyterlab-nvdashboard; each begins with the notebook open, theirs closed. */

import type { Page } from '@playwright/test';

import type { Person, Ways } from './person';

const button = (page: Page) =>
  page.locator('.jp-NotebookPanel:visible [data-command="scheduling:create-from-notebook"]');
const jobs = (page: Page) => page.locator('.jp-notebook-jobs-panel:visible');
const create = (page: Page) => jobs(page).getByRole('button', { name: 'Create', exact: true });

/** The page of jobs, by the launcher. */
async function openJobs(person: Person): Promise<void> {
  await person.click(person.page.locator('.lm-TabBar-addButton:visible'));
  await person.click(person.page.locator('.jp-LauncherCard:visible', { hasText: 'Jobs' }));
}

/** The form with one parameter more than the notebook's own. */
async function withParameter(person: Person, name: string, value: string): Promise<void> {
  const { page } = person;
  await person.click(button(page));
  await person.click(jobs(page).getByTitle('Add new parameter'));
  await person.click(jobs(page).getByPlaceholder('Name'));
  await person.type(name);
  await person.press('Tab');
  await person.type(value);
  await person.press('Tab'); // the form looks at a value when it is left
  await person.click(create(page));
}

export const SCHEDULER: Ways = {
  'find it': async person => {
    await person.click(button(person.page));
    await person.sees(create(person.page));
  },
  submit: async person => {
    await person.click(button(person.page));
    await person.click(create(person.page));
    // Listed, as `Stopped`; the list does not follow by itself, what becomes of the job is seen by Reload.
    await person.sees(jobs(person.page).locator('tbody tr', { hasText: 'lesson' }).first());
  },
  'why it failed': async person => {
    await openJobs(person);
    await person.click(jobs(person.page).getByTitle('Open detail view for "broken"').first());
    await person.sees(jobs(person.page).getByText(/no_such_name/).first());
  },
  'other batch': async person => {
    await withParameter(person, 'BATCH_SIZE', '128');
    await person.sees(jobs(person.page).locator('tbody tr').first());
  },
  'which GPU is free': 'It knows no devices.',
  'log of an earlier run': async person => {
    const { page } = person;
    await openJobs(person);
    const row = jobs(page).locator('tbody tr', { hasText: 'earlier' });
    // Its output is a copy of the notebook, which is to be fetched before it can be opened.
    await person.click(row.getByTitle(/^Download output files/));
    const link = row.getByRole('link', { name: 'Notebook' }).or(row.getByText('Notebook'));
    for (let turn = 0; turn < 60 && !(await link.first().isVisible()); turn++) {
      await page.waitForTimeout(1_000);
      await person.click(jobs(page).getByRole('button', { name: 'Reload' }));
    }
    await person.click(link.first());
    await person.sees(page.locator('.jp-NotebookPanel:visible').getByText('the end').last());
  },
  'compare two': 'Jobs are listed with name, state and date; nothing of two is put side by side.',
  'repeat nightly': async person => {
    const { page } = person;
    await person.click(button(page));
    await person.click(jobs(page).getByRole('radio', { name: 'Run on a schedule' }));
    await person.click(jobs(page).locator('#jp-create-job-createType-definition-interval'));
    await person.click(page.getByRole('option', { name: 'Day', exact: true }));
    await person.click(create(page));
    await person.sees(jobs(page).locator('tbody tr', { hasText: 'lesson' }).first());
  },
  'ten learning rates': async person => {
    for (let turn = 0; turn < 10; turn++) {
      if (turn) {
        await person.click(person.page.locator('.lm-DockPanel-tabBar .lm-TabBar-tab', { hasText: 'lesson.ipynb' }));
      }
      await withParameter(person, 'LEARNING_RATE', `${(turn + 1) / 10}`);
      await jobs(person.page).locator('tbody tr').first().waitFor();
    }
    await person.sees(jobs(person.page).locator('tbody tr').nth(9));
  }
};

const ONLY = 'It shows devices only.';

export const NVDASHBOARD: Ways = {
  'find it': async person => {
    await person.click(person.page.locator('.jp-SideBar [data-id="gpu-dashboard"]'));
    await person.sees(person.page.locator('#gpu-dashboard').getByText('GPU Memory'));
  },
  submit: ONLY,
  'why it failed': ONLY,
  'other batch': ONLY,
  'which GPU is free': async person => {
    const { page } = person;
    await person.click(page.locator('.jp-SideBar [data-id="gpu-dashboard"]'));
    await person.click(page.locator('#gpu-dashboard').getByText('GPU Memory'));
    await person.sees(page.getByText('GPU 0', { exact: true }).first());
  },
  'log of an earlier run': ONLY,
  'compare two': ONLY,
  'repeat nightly': ONLY,
  'ten learning rates': ONLY
};
