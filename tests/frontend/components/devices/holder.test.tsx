/** Who has a device: the job that was given it, else the largest process. */

import * as React from 'react';

import { Device } from '../../../../src/components/devices/device';
import type { IDevice } from '../../../../src/domain';
import type { PanelModel } from '../../../../src/models/panel';
import { draw } from '../../drawing';
import { job } from '../../helpers';

const process = {
  pid: 1,
  memory_bytes: 2 ** 30,
  user: 'eve',
  command: '/usr/bin/blender -b',
  job_id: null
};

function said(more: object): string[] {
  const device = {
    id: 'GPU-0',
    index: 0,
    kind: 'gpu',
    name: 'T4',
    checked: true,
    simulated: false,
    utilization: null,
    memory_total: null,
    memory_used: null,
    processes: [],
    holder: null,
    sharers: [],
    problem: null,
    ...more
  } as unknown as IDevice;
  const model = {
    courses: { utilization: () => [] },
    jobs: new Map([['20260101-a', job('20260101-a')]])
  } as unknown as PanelModel;
  const box = draw(<Device device={device} estimate={null} chosen={false} model={model} />);
  return [...box.querySelectorAll('.jp-PaddleGpu-small')].map(one => one.textContent ?? '');
}

test('nobody has it', () => {
  expect(said({})).toEqual([]);
});

test('a job of another user is named by its user and the end of its id', () => {
  expect(
    said({ holder: { job: '20260101-beef', owner: 'ann', name: '', bytes: null } })
  ).toEqual(['ann · Job beef']);
});

test('a job of ones own is named by its name, whatever processes it has', () => {
  const holder = { job: '20260101-a', owner: 'me', name: 'digits', bytes: null };
  expect(said({ holder, processes: [process, process] })).toEqual(['me · digits']);
});

test('jobs that share it: the first with its share, and how many more', () => {
  const sharers = [
    { job: '20260101-a', owner: 'me', name: 'digits', bytes: 12 * 2 ** 30 },
    { job: '20260101-beef', owner: 'ann', name: '', bytes: 2 ** 30 }
  ];
  expect(said({ sharers })).toEqual(['me · digits · 12.0 GiB and 1 more']);
});

test('where no job has it, the largest process', () => {
  expect(said({ processes: [{ ...process, memory_bytes: 1, user: 'bob' }, process] })).toEqual([
    'eve · blender and 1 more'
  ]);
});
