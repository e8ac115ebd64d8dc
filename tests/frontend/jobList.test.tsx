/** The list of jobs as it is drawn: many of them, those under way, those that are looked for. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';

import { AppProvider } from '../../src/components/context';
import { findJobs, JobList } from '../../src/components/jobs';
import { EventStream } from '../../src/events';
import { ActiveNotebook } from '../../src/models/notebook';
import { PanelModel } from '../../src/models/panel';
import { answer, apiOn, job, trans } from './helpers';

const MANY = 200;

let root: Root;
let box: HTMLElement;
let model: PanelModel;

beforeEach(async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const jobs = Array.from({ length: MANY }, (_, n) =>
    job(`job ${n}`, {
      created: n,
      state: n === 3 ? 'running' : n % 2 ? 'failed' : 'succeeded',
      reason: n % 2 ? { code: 'cell_error', message: `Cell ${n} failed.`, hint: '' } : null
    })
  );
  const api = apiOn(() => Promise.resolve(answer(200, JSON.stringify({ jobs }))));
  const tracker = { currentChanged: new Signal({}), currentWidget: null };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  model = new PanelModel(api, new EventStream(api), notebook);
  await model.jobs.refresh();
  box = document.createElement('div');
  document.body.append(box);
  root = createRoot(box);
  draw();
});

afterEach(() => {
  act(() => root.unmount());
  box.remove();
  model.dispose();
});

function draw(): void {
  const app = { trans, language: 'en', commands: new CommandRegistry() };
  act(() =>
    root.render(
      <AppProvider value={app}>
        <JobList model={model} />
      </AppProvider>
    )
  );
}

const names = () =>
  [...box.querySelectorAll('.jp-PaddleGpu-job')].map(row => row.getAttribute('aria-label'));

function press(text: string): void {
  const button = [...box.querySelectorAll('button')].find(one =>
    one.textContent?.startsWith(text)
  );
  act(() => button?.click());
}

test('the newest are shown, and what runs, however old', () => {
  expect(names()).toEqual([199, 198, 197, 196, 195, 194, 3].map(n => `job ${n}`));
  expect(box.textContent).toContain(`Show more (${MANY - 7})`);
});

test('more come in portions, not all at once', () => {
  press('Show more');
  expect(names().length).toBe(31);
  press('Show more');
  expect(names().length).toBe(61);
  press('Show fewer');
  expect(names().length).toBe(7);
});

test('an old failure is one line; nothing is announced again', () => {
  expect(box.textContent).toContain('Cell 199 failed.');
  expect(box.querySelectorAll('[role=alert]').length).toBe(0);
});

test('a job is found by words of its name and state', () => {
  const found = (words: string) => findJobs(model.jobs.list, words, trans).map(({ id }) => id);
  expect(found('running')).toEqual(['job 3']);
  expect(found('FAILED 19')).toEqual([199, 197, 195, 193, 191, 119, 19].map(n => `job ${n}`));
  expect(found(' ').length).toBe(MANY);
});

test('a deletion leaves the way back in its place', () => {
  act(() => model.jobs.delete('job 198'));
  draw();
  expect(box.textContent).toContain('job 198 will be deleted.');
  press('Undo');
  draw();
  expect(names()).toContain('job 198');
});
