/** The list of jobs as it is drawn: many of them, those under way, those that are looked for. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import * as React from 'react';
import { act } from 'react';

import { findJobs, JobList } from '../../../src/components/jobs/list';
import type { IJob, ISweep } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { ActiveNotebook } from '../../../src/models/notebook/notebook';
import { PanelModel } from '../../../src/models/panel';
import * as drawing from '../drawing';
import { answer, apiOn, job, settle, sweep, trans } from '../helpers';

const MANY = 200;
const FAILED = { failure: { cell: 6, line: 5, name: 'E', value: '' } } as IJob['result'];

let box: HTMLElement;
let model: PanelModel;
let sweeps: ISweep[];

beforeEach(async () => {
  const jobs = Array.from({ length: MANY }, (_, n) =>
    job(`job ${n}`, {
      created: n,
      state: n === 3 ? 'running' : n % 2 ? 'failed' : 'succeeded',
      reason: n % 2 ? { code: 'cell_error', message: `Cell ${n} failed.`, hint: '' } : null,
      result: n === MANY - 1 ? FAILED : null
    })
  );
  sweeps = [];
  const again = job('again', { created: MANY, state: 'queued' });
  const api = apiOn(url => {
    const isRerun = url.endsWith('/rerun');
    // The list is asked for again once a job is looked at, and has the new one then.
    if (isRerun) {
      jobs.push(again);
    }
    const log = { lines: [], next: 0, total: 0, ended: false };
    const plans = { sweeps, schedules: [] };
    const body = isRerun ? again : url.includes('/log') ? log : { jobs, ...plans };
    return Promise.resolve(answer(200, JSON.stringify(body)));
  });
  const tracker = { currentChanged: new Signal({}), currentWidget: null };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  model = new PanelModel(api, new EventStream(api), notebook);
  await model.jobs.refresh();
  draw();
});

afterEach(() => {
  model.dispose();
});

function draw(): void {
  box = drawing.draw(<JobList model={model} />);
}

const names = () =>
  [...box.querySelectorAll('.jp-PaddleGpu-job')].map(row => row.getAttribute('aria-label'));

test('what runs is shown first, however old, and then the newest', () => {
  expect(names()).toEqual([3, 199, 198, 197].map(n => `job ${n}`));
  expect(box.textContent).toContain(`Show more (${MANY - 4})`);
});

test('of several that failed, the last one says why', () => {
  expect(box.textContent).toContain('Cell 199 failed.');
  expect(box.textContent).not.toContain('Cell 197 failed.');
});

test('many that wait are folded away like those that have ended', () => {
  const waiting = Array.from({ length: 20 }, (_, n) => `waiting ${n}`);
  waiting.forEach((id, n) => model.jobs.put(job(id, { created: MANY + n, state: 'queued' })));
  draw();
  expect(names()).toEqual(['job 3', ...waiting.reverse().slice(0, 3)]);
});

test('the job that was submitted from here is brought into view, once', async () => {
  const seen = jest.fn();
  Element.prototype.scrollIntoView = seen;
  await act(async () => void (await model.rerun('job 199')));
  draw();
  expect(seen).toHaveBeenCalledTimes(1);
  expect(seen.mock.contexts[0]).toBe(box.querySelector('[aria-label="again"]'));
  draw();
  expect(seen).toHaveBeenCalledTimes(1);
});

test('more come in portions, not all at once', () => {
  drawing.press('Show more');
  expect(names().length).toBe(31);
  drawing.press('Show more');
  expect(names().length).toBe(61);
  drawing.press('Show fewer');
  expect(names().length).toBe(4);
});

test('an old failure is one line; nothing is announced again', () => {
  expect(box.textContent).toContain('Cell 199 failed.');
  expect(box.querySelectorAll('[role=alert]').length).toBe(0);
});

test('a failed job leads to the cell that failed', async () => {
  const unfold = async (name: string) => {
    const button = box.querySelector<HTMLElement>(`[aria-label="Last lines of ${name}"]`);
    button?.click();
    await act(settle);
    draw();
  };
  await unfold('job 199');
  expect(box.textContent).toContain('Go to cell 7');
  await unfold('job 197');
  expect(box.textContent).not.toContain('Go to cell');
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
  drawing.press('Undo');
  draw();
  expect(names()).toContain('job 198');
});

test('trials are one row of their sweep, which says how far it is and its best, and ends once', async () => {
  const ended: string[] = [];
  model.plans.ended.connect((_, { id }) => ended.push(id));
  const [old] = model.jobs.list;
  for (const trial of [1, 2]) {
    const spec = { ...job('lr').spec, plan: 'lr', trial };
    model.jobs.put({ ...job(`lr${trial}`, { created: MANY + trial, updated: MANY }), spec });
  }
  sweeps = [sweep('lr', { created: MANY + 1, counts: { succeeded: 1, running: 1 }, best: 1 })];
  await act(() => model.plans.refresh());
  draw();
  expect(names().slice(0, 3)).toEqual(['lr', 'job 3', old.id]);
  const row = box.querySelector('[data-sweep]');
  expect(row?.textContent).toContain('1 of 2 trials');
  expect(row?.textContent).toContain('best loss 0.5 · learning rate 1');
  expect(ended).toEqual([]);
  sweeps = [sweep('lr', { created: MANY + 1, counts: { succeeded: 2 }, state: 'succeeded' })];
  await act(() => model.plans.refresh());
  await act(() => model.plans.refresh());
  expect(ended).toEqual(['lr']);
});
