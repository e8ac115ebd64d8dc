/** The tasks with this extension. Each begins with the notebook open and the panel closed. */

import type { Page } from '@playwright/test';

import type { Person, Ways } from './person';

const tab = (page: Page) => page.locator('.jp-SideBar [data-id="jp-PaddleGpu-panel"]');
const panel = (page: Page) => page.locator('#jp-PaddleGpu-panel');
const dialog = (page: Page) => page.getByRole('dialog');
const list = (page: Page) => page.locator('.jp-PaddleGpu-jobsPage');

async function open(person: Person): Promise<void> {
  await person.click(tab(person.page));
}

async function change(person: Person): Promise<void> {
  await open(person);
  await person.click(panel(person.page).getByRole('button', { name: 'Change…' }));
}

/** Take a field's value away and type another. */
async function replace(person: Person, label: string, text: string): Promise<void> {
  const field = dialog(person.page).getByLabel(label);
  await field.waitFor();
  await person.hasKeyboard(dialog(person.page));
  // The first field has the keyboard already.
  if (!(await field.evaluate(node => node === document.activeElement))) {
    await person.click(field);
  }
  await person.press('Control+a');
  await person.type(text);
}

export const OURS: Ways = {
  'find it': async person => {
    await open(person);
    await person.sees(panel(person.page).getByRole('button', { name: 'Submit lesson.ipynb' }));
  },
  submit: async person => {
    await person.click(person.page.getByRole('button', { name: 'Submit training' }));
    await person.sees(
      person.page.locator('.jp-PaddleGpu-job', { hasText: 'lesson' }).first()
    );
  },
  'why it failed': async person => {
    await open(person);
    await person.sees(
      panel(person.page)
        .getByRole('listitem', { name: 'broken' })
        .getByText(/no_such_name/)
    );
  },
  'other batch': async person => {
    await open(person);
    await person.click(
      panel(person.page).getByRole('button', { name: 'lesson', exact: true }).first()
    );
    await person.click(
      person.page.locator('.jp-PaddleGpu-view:visible').getByRole('button', { name: 'Re-run with…' })
    );
    await replace(person, 'BATCH_SIZE', '128');
    await person.click(dialog(person.page).getByRole('button', { name: 'Run' }));
    await person.sees(
      person.page
        .locator('.jp-PaddleGpu-view:visible')
        .getByRole('heading', { level: 1, name: /batch 128/ })
    );
  },
  'which GPU is free': async person => {
    await open(person);
    await person.sees(
      panel(person.page).locator('.jp-PaddleGpu-device', { hasText: 'GPU 0' }).getByText(/free/)
    );
  },
  'log of an earlier run': async person => {
    await open(person);
    const row = panel(person.page).getByRole('listitem', { name: 'earlier', exact: true });
    const more = panel(person.page).getByRole('button', { name: /^Show more/ });
    await row.or(more).first().waitFor();
    if (!(await row.isVisible())) {
      await person.click(more);
    }
    await person.click(row.getByRole('button', { name: 'earlier', exact: true }));
    const view = person.page.locator('.jp-PaddleGpu-view:visible');
    await person.click(view.getByRole('tab', { name: 'Log' }));
    await person.sees(view.getByRole('log', { name: 'Log of the job' }).getByText('the end'));
  },
  'compare two': async person => {
    await open(person);
    await person.click(panel(person.page).getByRole('button', { name: 'Side by side' }));
    const boxes = list(person.page).getByRole('checkbox', { name: /^Choose lesson/ });
    await person.click(boxes.nth(0));
    await person.click(boxes.nth(1));
    await person.click(list(person.page).getByRole('button', { name: 'Compare 2' }));
    await person.sees(list(person.page).getByRole('slider', { name: 'loss of 2 jobs' }));
  },
  'repeat nightly': async person => {
    await change(person);
    await person.click(dialog(person.page).getByRole('radio', { name: 'again and again' }));
    await person.sees(dialog(person.page).getByText(/next:/));
    await person.click(dialog(person.page).getByRole('button', { name: 'Submit' }));
    await person.sees(list(person.page).locator('li[data-schedule]'));
  },
  'ten learning rates': async person => {
    await change(person);
    await person.click(dialog(person.page).getByText('Try several values'));
    await person.click(dialog(person.page).getByLabel('LEARNING_RATE'));
    await person.type('0.001:1:log10');
    await person.click(dialog(person.page).getByRole('button', { name: 'Submit' }));
    await person.sees(list(person.page).locator('tr[data-sweep]').getByText(/of 10 trials/));
  }
};
