import * as React from 'react';
import { act } from 'react';

import { rankCount, Ranks } from '../../../src/components/job/ranks';
import { JobLog } from '../../../src/models/job/jobLog';
import type { JobView } from '../../../src/models/job/jobView';
import { draw } from '../drawing';
import { job, line, LogServer } from '../helpers';

test('each process of a run has its own last lines, and the way to its whole log', async () => {
  jest.useFakeTimers();
  let isRunning = true;
  const opened: number[] = [];
  const servers = [0, 1].map(rank => new LogServer([line(0, `hello from ${rank}`)]));
  const logs = servers.map(({ fetch }) => new JobLog(fetch, '', () => isRunning));
  const refused = new JobLog(
    () => Promise.reject(new Error('The log cannot be read.')),
    '',
    () => isRunning
  );
  const model = {
    rank: 0,
    openLog: (rank: number) => opened.push(rank),
    logOf: (rank: number) => logs[rank] ?? refused
  } as unknown as JobView;
  const devices = job('j', { device_ids: ['GPU-a', 'GPU-b', 'GPU-c'] });
  // One process may well use several devices.
  expect(rankCount(devices)).toBe(1);
  const three = { ...devices, spec: { ...devices.spec, processes: 3 } };
  expect(rankCount(three)).toBe(3);
  expect(rankCount(job('alone'))).toBe(1);
  // The first process's lines are told by the server.
  await act(() => logs[0].lines.open());
  const box = draw(<Ranks model={model} job={three} />);
  const written = () =>
    [...box.querySelectorAll('[role=log]')].map(one =>
      [...one.querySelectorAll('.jp-PaddleGpu-text, .jp-PaddleGpu-muted')]
        .map(({ textContent }) => textContent)
        .join('|')
    );
  await act(() => jest.advanceTimersByTimeAsync(100));
  expect(written()).toEqual(['hello from 0', 'hello from 1', 'The log cannot be read.']);
  // Those of the others are asked for while somebody looks, up to what was written until the end.
  servers[1].lines.push(line(1, 'and goes on'));
  await act(() => jest.advanceTimersByTimeAsync(4_000));
  expect(written()[1]).toBe('hello from 1|and goes on');
  isRunning = false;
  servers[1].lines.push(line(2, 'the end'));
  await act(() => jest.advanceTimersByTimeAsync(4_000));
  expect(written()[1]).toBe('hello from 1|and goes on|the end');
  const asked = servers[1].asked.length;
  await act(() => jest.advanceTimersByTimeAsync(20_000));
  expect(servers[1].asked).toHaveLength(asked);
  const lead = box.querySelector<HTMLElement>('[aria-label="Open the log of rank 1"]');
  act(() => lead?.click());
  expect(opened).toEqual([1]);
  jest.useRealTimers();
});
