/** What a waiting job says of its place, and the buttons that hold it and move it among one's own. */

import * as React from 'react';

import { QueueButtons } from '../../../src/components/jobs/queueing';
import { ProgressBar } from '../../../src/components/jobs/progressBar';
import { jobSentence } from '../../../src/components/jobs/words';
import type { IJob } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { Jobs } from '../../../src/models/jobs/jobs';
import * as drawing from '../drawing';
import { answer, apiOn, job, trans } from '../helpers';

const asked: [string, unknown][] = [];
let jobs: Jobs;

beforeEach(() => {
  asked.length = 0;
  const api = apiOn((url, init) => {
    asked.push([url.split('/jobs/')[1], JSON.parse(String(init?.body ?? 'null'))]);
    return Promise.resolve(answer(200, JSON.stringify(job('b', { state: 'queued' }))));
  });
  jobs = new Jobs(api, new EventStream(api));
  for (const [n, id] of ['a', 'b', 'c'].entries()) {
    jobs.put(job(id, { state: 'queued', created: n }));
  }
  jobs.put(job('late but first', { state: 'queued', created: 9, priority: 2 }));
});

afterEach(() => {
  jobs.dispose();
});

function press(id: string, text: string): void {
  const found = jobs.waiting.find(one => one.id === id) ?? job(id);
  drawing.draw(<QueueButtons job={found} model={{ jobs }} />);
  drawing.press(text);
}

test("one's own jobs stand in their order", () => {
  expect(jobs.waiting.map(({ id }) => id)).toEqual(['late but first', 'a', 'b', 'c']);
});

test.each([
  ['b', 'Hold', 'b/hold', { held: true }],
  ['b', 'First', 'b/move', { before: 'late but first' }],
  ['b', 'Up', 'b/move', { before: 'a' }],
  ['a', 'Down', 'a/move', { before: 'c' }],
  ['b', 'Down', 'b/move', { before: null }]
])('%s: %s', (id, text, url, body) => {
  press(id, text);
  expect(asked).toEqual([[url, body]]);
});

test('a time that is over is not told as one that is left', () => {
  const said = (seconds_left: number) => {
    const made = job('a', { state: 'running' });
    return jobSentence({ ...made, progress: { ...made.progress, seconds_left } }, trans);
  };
  expect(said(12)).toContain('12 s left');
  expect(said(8.6)).toContain(' 9 s left');
  expect(said(0)).not.toContain('left');
  expect(said(0.4)).not.toContain('left');
});

test('a cell is called by its place among all cells, and what has run is counted', () => {
  const said = (cell: number | null, cells_done: number, cells_total = 8) => {
    const made = job('a', { state: 'running' });
    return jobSentence(
      { ...made, progress: { ...made.progress, cell, cells_done, cells_total } },
      trans
    );
  };
  // A heading stands before it.
  expect(said(4, 3)).toBe('running · cell 5 · 3 of 8 cells done');
  // Of the last one nobody knows how far it is, unless its training tells: no bar stands near its end for it.
  expect(said(7, 7)).toBe('running · cell 8 · last cell, length unknown');
  expect(said(null, 8)).toBe('running · 8 of 8 cells done');
  // A script has no cells.
  expect(said(0, 0, 1)).toBe('running');
});

test('a bar has no end where nobody knows how far it is', () => {
  const drawn = (more: Partial<IJob['progress']>, state: IJob['state'] = 'running') => {
    const made = job('a', { state });
    const progress = { ...made.progress, cell: 7, cells_done: 7, cells_total: 8, share: 0.99 };
    const box = drawing.draw(
      <ProgressBar job={{ ...made, progress: { ...progress, ...more } }} />
    );
    const bar = box.querySelector('[role=img]');
    const fill = bar?.querySelector<HTMLElement>('i');
    return [
      bar?.getAttribute('aria-label'),
      fill?.className.replace(/^.*jp-mod-/, ''),
      fill?.style.width
    ];
  };
  expect(drawn({})).toEqual(['last cell, length unknown', 'open', '100%']);
  // A script or a notebook of one cell.
  expect(drawn({ cell: 0, cells_done: 0, cells_total: 1, share: 0.25 })).toEqual([
    'length unknown',
    'open',
    '100%'
  ]);
  expect(drawn({ seconds_left: 4 })).toEqual(['99 percent done', 'need', '99%']);
  expect(drawn({ cells_done: 6, share: 0.5 })).toEqual(['50 percent done', 'need', '50%']);
  expect(drawn({ cell: null, cells_done: 8, share: 1 })).toEqual([
    '100 percent done',
    'need',
    '100%'
  ]);
});

test('a waiting job says its place and about when it starts', () => {
  const starts = Date.now() / 1000 + 3600;
  const place = { number: 2, starts };
  const said = jobSentence(job('a', { state: 'queued', place }), trans);
  expect(said).toMatch(/place 2 in the queue · starts in about .*h/);
  const unknown = job('a', { state: 'queued', place: { number: 1, starts: null } });
  expect(jobSentence(unknown, trans)).toMatch(/place 1 in the queue$/);
  expect(jobSentence(job('a', { state: 'queued', held: true }), trans)).toMatch(/held$/);
});
