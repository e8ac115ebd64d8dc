import * as React from 'react';
import { act } from 'react';

import { rankCount, Ranks } from '../../../src/components/job/ranks';
import type { JobView } from '../../../src/models/job/jobView';
import { draw, press } from '../drawing';
import { job, line } from '../helpers';

test('each process of a run has its own last lines, and one that cannot be read says why', async () => {
  const asked: number[] = [];
  const model = {
    rankLines: async (rank: number) => {
      asked.push(rank);
      if (rank === 2) {
        throw new Error('The log cannot be read.');
      }
      return [line(0, `hello from ${rank}`)];
    }
  } as unknown as JobView;
  const devices = job('j', { device_ids: ['GPU-a', 'GPU-b', 'GPU-c'] });
  // One process may well use several devices.
  expect(rankCount(devices)).toBe(1);
  const three = { ...devices, spec: { ...devices.spec, processes: 3 } };
  expect(rankCount(three)).toBe(3);
  expect(rankCount(job('alone'))).toBe(1);
  const box = draw(<Ranks model={model} job={three} />);
  await act(async () => undefined);
  const logs = [...box.querySelectorAll('[role=log]')].map(one => one.textContent);
  expect(logs).toEqual(['hello from 0', 'hello from 1', 'The log cannot be read.']);
  press('Read again');
  await act(async () => undefined);
  expect(asked).toEqual([0, 1, 2, 0]);
});
