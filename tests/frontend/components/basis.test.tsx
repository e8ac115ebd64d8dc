/** What is said of a figure: what its range rests on stands behind its ⓘ, all else below it; and how long it takes. */

import * as React from 'react';
import { act } from 'react';

import { Memory } from '../../../src/components/estimate/memory';
import type { Training } from '../../../src/models/estimate/training';
import { draw, press } from '../drawing';

const NOTES = [
  { code: 'narrowed_by_answers', message: 'Both ends rest on 103 trainings.', hint: '' },
  { code: 'widened_by_logs', message: 'As wide as 9 public logs scatter.', hint: '' },
  { code: 'unknown_data', message: 'What data looks like follows from the code.', hint: '' }
];

function training(more: object): Training {
  return {
    facts: null,
    factsError: null,
    estimate: null,
    estimateError: null,
    placement: null,
    own: null,
    models: { list: [], chosen: '' },
    isEstimating: false,
    request: {},
    asking: { since: 0 },
    whatIfs: [],
    ...more
  } as unknown as Training;
}

test('what a range rests on is behind its sign', () => {
  const estimate = {
    status: 'ok',
    evidence: 'trace',
    questions: [],
    packages: [],
    stop: null,
    target: 'gpu',
    device: 'A100',
    peak_bytes: 2 ** 30,
    allocated_peak_bytes: 2 ** 29,
    low: 2 ** 29,
    high: 2 ** 31,
    breakdown: null,
    timeline: [],
    remedies: [],
    trainings: [],
    notes: NOTES,
    seconds: 1
  };
  const box = draw(<Memory training={training({ estimate })} model={null} />);
  expect(box.textContent).not.toMatch(/103 trainings|public logs/);
  expect(box.textContent).toContain('follows from the code');
  act(() => box.querySelector<HTMLButtonElement>('.jp-PaddleGpu-info button')?.click());
  expect(box.textContent).toContain(
    'Both ends rest on 103 trainings. As wide as 9 public logs scatter.'
  );
});

test('a range and what a GPU would take are two pieces, of which the second may have a line of its own', () => {
  const estimate = {
    status: 'ok',
    evidence: 'trace',
    questions: [],
    packages: [],
    stop: null,
    target: 'cpu',
    device: null,
    peak_bytes: null,
    allocated_peak_bytes: 2 ** 20,
    low: 2 ** 20,
    high: 2 ** 21,
    breakdown: null,
    timeline: [],
    remedies: [],
    trainings: [],
    notes: [],
    seconds: 1
  };
  const placement = { on_device: { peak_bytes: 2 ** 29, low: 2 ** 28, high: 2 ** 30 } };
  const box = draw(<Memory training={training({ estimate, placement })} model={null} />);
  const pieces = [...box.querySelectorAll('.jp-PaddleGpu-basis > .jp-PaddleGpu-figures')];
  expect(pieces[0].textContent).toBe('1.00 – 2.00 MiB ·');
  expect(pieces[1].textContent).toContain('512 MiB on a GPU');
});

test('an estimate that takes its time says for how long, and can be stopped', () => {
  const stop = jest.fn();
  const under = (since: number) =>
    draw(
      <Memory
        training={training({ isEstimating: true, asking: { since }, stop })}
        model={null}
      />
    );
  expect(under(Date.now()).textContent).not.toContain('Stop');
  expect(under(Date.now() - 75_000).textContent).toContain('1 min 15 s');
  press('Stop');
  expect(stop).toHaveBeenCalledTimes(1);
});

test('of several trainings the one is named that the figure of a GPU is of', () => {
  const one = { batch_size: 8, allocated_peak_bytes: 2 ** 20 };
  const estimate = {
    ...{ status: 'ok', evidence: 'trace', questions: [], packages: [], stop: null },
    ...{ target: 'cpu', device: null, peak_bytes: null, allocated_peak_bytes: 2 ** 20 },
    ...{
      low: null,
      high: null,
      breakdown: null,
      timeline: [],
      remedies: [],
      notes: [],
      seconds: 1
    },
    training: '1',
    trainings: [
      { ...one, id: '1', model: 'LeNet', where: { cell: 0, line: 6 } },
      { ...one, id: '2', model: 'ResNet', where: { cell: 2, line: 1 } }
    ]
  };
  const placement = {
    on_device: { peak_bytes: 2 ** 30, low: null, high: null, training: '2' }
  };
  const box = draw(<Memory training={training({ estimate, placement })} model={null} />);
  expect(box.querySelector('.jp-PaddleGpu-basis')?.textContent).toContain('ResNet · cell 3');
});
