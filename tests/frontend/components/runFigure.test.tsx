/** What a device's line says of time and cost: the whole run where its steps are known, else a step. */

import * as React from 'react';

import { Sentence } from '../../../src/components/devices/sentence';
import type { IDeviceScore, IVerdict } from '../../../src/domain';
import { draw } from '../drawing';

const VERDICT = {
  device_id: 'GPU-0',
  device_name: 'Tesla T4',
  fit: 'fits',
  reason: { code: 'fits', message: 'Fits with 4 GiB to spare.', hint: '' },
  free_bytes: 8 * 2 ** 30,
  needed_bytes: 4 * 2 ** 30,
  missing_bytes: null,
  largest_batch: null,
  seconds_per_step: 0.064,
  simulated: false
} as unknown as IVerdict;
const SCORE = {
  device_id: 'GPU-0',
  seconds_per_step: 0.064,
  seconds_from: 'roofline',
  run_seconds: 2580,
  run_cost: 1.434,
  currency: 'USD'
} as unknown as IDeviceScore;

function figure(score?: object, verdict: IVerdict = VERDICT): { text: string; title: string } {
  const drawn = draw(
    <Sentence
      verdict={verdict}
      score={score ? ({ ...SCORE, ...score } as IDeviceScore) : undefined}
    />
  );
  const found = drawn.querySelector('.jp-PaddleGpu-figures');
  return { text: found?.textContent ?? '', title: found?.getAttribute('title') ?? '' };
}

it('tells time and cost of the whole run, with the step behind them', () => {
  expect(figure({})).toEqual({ text: 'whole run ≥ 43 min · 1.4 USD', title: '≥ 64 ms/step' });
  expect(figure({ seconds_from: 'learned', run_cost: null })).toEqual({
    text: 'whole run ~ 43 min',
    title: '~ 64 ms/step'
  });
});

it('tells a step where the length of the run is not known', () => {
  expect(figure({ run_seconds: null })).toEqual({ text: '≥ 64 ms/step', title: '' });
  expect(figure()).toEqual({ text: '≥ 64 ms/step', title: '' });
  expect(
    figure({ run_seconds: null, seconds_from: 'measured', seconds_per_step: 2 }).text
  ).toBe('~ 2 s/step');
});

it('tells the bound of the estimate that is shown, not of a job with other sequences', () => {
  const longer = { ...VERDICT, seconds_per_step: 0.256 } as IVerdict;
  expect(figure({ run_seconds: null }, longer).text).toBe('≥ 260 ms/step');
});

it('tells no bound that is shorter than any step', () => {
  const short = { ...VERDICT, seconds_per_step: 5.6e-10 } as IVerdict;
  expect(figure({ run_seconds: null }, short).text).toBe('');
  expect(
    figure({ run_seconds: null, seconds_per_step: 5e-6, seconds_from: 'learned' }).text
  ).toBe('~ 0.005 ms/step');
});

it('tells the batch where it does not fit', () => {
  const never = { ...VERDICT, fit: 'never', largest_batch: 12 } as IVerdict;
  expect(figure({}, never).text).toBe('up to batch 12');
});
