import * as React from 'react';
import { act } from 'react';

import { LogView } from '../../../src/components/job/logView';
import type { JobView } from '../../../src/models/job/jobView';
import { JobLog } from '../../../src/models/job/jobLog';
import { draw, press } from '../drawing';
import { job, line, LogServer } from '../helpers';

test('a log is searched as one types, once the keys rest; Enter goes to the next match', async () => {
  jest.useFakeTimers();
  const server = new LogServer(Array.from({ length: 300 }, (_, n) => line(n)));
  const log = new JobLog(server.fetch, '', () => false);
  const box = draw(
    <LogView
      model={{ rank: 0, logOf: () => log, figures: [], job: null } as unknown as JobView}
      openPlace={() => undefined}
      openFile={() => undefined}
    />
  );
  await act(() => log.lines.open());
  const field = box.querySelector('input[type=search]') as HTMLInputElement;
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
  const type = async (text: string, rest: number) => {
    act(() => {
      write?.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await act(() => jest.advanceTimersByTimeAsync(rest));
  };
  const said = () => box.querySelector('[role=search] [role=status]')?.textContent;
  const asked = server.asked.length;
  await type('2', 50);
  await type('29', 50);
  expect(said()).toBeUndefined();
  expect(server.asked).toHaveLength(asked);
  await type('299', 1_000);
  expect(said()).toBe('1 of 1');
  await type('29', 1_000);
  expect(said()).toBe('1 of 13');
  await act(async () => {
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await jest.advanceTimersByTimeAsync(100);
  });
  expect(said()).toBe('2 of 13');
  // The only match is gone to again from wherever one has scrolled.
  await type('299', 1_000);
  const view = box.querySelector('[role=log]') as HTMLElement;
  const there = view.scrollTop;
  view.scrollTop = 0;
  await act(async () => {
    box.querySelector<HTMLElement>('[aria-label="Next match"]')?.click();
    await jest.advanceTimersByTimeAsync(100);
  });
  expect([there > 0, view.scrollTop]).toEqual([true, there]);
  await type('', 1_000);
  expect(said()).toBeUndefined();
  jest.useRealTimers();
});

test('each process has its whole log, and the error is looked for in that of the one that failed', async () => {
  const first = new LogServer([line(0, 'stopped with the others')]);
  const second = new LogServer([
    ...Array.from({ length: 15 }, (_, n) => line(n, `step ${n}`)),
    { ...line(15, 'Traceback (most recent call last)'), s: 'stderr' },
    line(16, 'ValueError: bad shard')
  ]);
  const third = new LogServer();
  const logs = [first, second, third].map(
    ({ fetch }, rank) => new JobLog(fetch, `log/file?rank=${rank}`, () => false)
  );
  const failed = job('j', { state: 'failed' });
  const failure = { cell: 0, line: 1, name: 'ValueError', value: 'bad shard', traceback: '' };
  const model = {
    rank: 0,
    logOf: (rank: number) => logs[rank],
    figures: [],
    job: {
      ...failed,
      spec: { ...failed.spec, processes: 3 },
      result: { rank: 1, failure }
    }
  } as unknown as JobView;
  const page = () => (
    <LogView model={model} openPlace={() => undefined} openFile={() => undefined} />
  );
  await act(() => logs[0].lines.open());
  const box = draw(page());
  const list = box.querySelector('select') as HTMLSelectElement;
  const rows = () =>
    [...box.querySelectorAll('.jp-PaddleGpu-logRow .jp-PaddleGpu-text')].map(
      one => one.textContent
    );
  expect([...list.options].map(one => one.text)).toEqual(['Rank 0', 'Rank 1', 'Rank 2']);
  expect(rows()).toEqual(['stopped with the others']);
  press('Jump to the error');
  await act(async () => new Promise(done => setTimeout(done, 50)));
  expect(model.rank).toBe(1);
  expect(list.value).toBe('1');
  expect(box.textContent).toContain('17 lines');
  expect(box.querySelector('a[download]')?.getAttribute('href')).toBe('log/file?rank=1');
  expect(rows()).toContain('ValueError: bad shard');
  expect(box.querySelector('.jp-mod-found')?.textContent).toContain('Traceback');
  // Who has scrolled away is led there again.
  const view = box.querySelector('[role=log]') as HTMLElement;
  const there = view.scrollTop;
  expect(there).toBeGreaterThan(0);
  view.scrollTop = 0;
  press('Jump to the error');
  await act(async () => new Promise(done => setTimeout(done, 50)));
  expect(view.scrollTop).toBe(there);
  // What else leads to a process shows it from its end, with no line of the one before marked.
  model.rank = 0;
  draw(page());
  await act(async () => new Promise(done => setTimeout(done, 50)));
  expect(list.value).toBe('0');
  expect(box.querySelector('.jp-mod-found')).toBeNull();
  // One that has written nothing says so.
  await act(async () => {
    list.value = '2';
    list.dispatchEvent(new Event('change', { bubbles: true }));
    await new Promise(done => setTimeout(done, 50));
  });
  expect(rows()).toEqual([]);
  expect(box.textContent).toContain('Nothing printed yet.');
});
