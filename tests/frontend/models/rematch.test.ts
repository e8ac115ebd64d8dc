/** When what a device's row tells is asked anew. */

import { Training } from '../../../src/models/estimate/training';
import { Rematch } from '../../../src/models/estimate/rematch';
import { answer, apiOn, job, settle, source } from '../helpers';

function matched(code: string): Training {
  const verdicts = [{ reason: { code, message: '', hint: '' } }];
  const placement = { decision: { outcome: 'run' }, verdicts };
  return { placement, placed: 1 } as unknown as Training;
}

describe('Rematch', () => {
  it('is due while a row tells how long a job still has its device', () => {
    const rematch = new Rematch();
    expect(rematch.isDue(matched('waits_device'), [], [])).toBe(false);
    expect(rematch.isDue(matched('waits_device'), [], [])).toBe(true);
  });

  it('is not due where nothing moves and nobody waits', () => {
    const rematch = new Rematch();
    expect(rematch.isDue(matched('fits'), [], [])).toBe(false);
    expect(rematch.isDue(matched('fits'), [], [])).toBe(false);
  });

  it('is due when an own job has taken a device, and when it has left it', () => {
    const running = [job('a', { state: 'running', device_ids: ['GPU-0'] })];
    const ended = [job('a', { state: 'succeeded', device_ids: ['GPU-0'] })];
    const taken = new Rematch();
    expect(taken.isDue(matched('fits'), [], [])).toBe(false);
    expect(taken.isDue(matched('fits'), [], running)).toBe(true);
    const left = new Rematch();
    expect(left.isDue(matched('fits'), [], running)).toBe(false);
    expect(left.isDue(matched('fits'), [], running)).toBe(false);
    expect(left.isDue(matched('fits'), [], ended)).toBe(true);
  });

  it('is due where an own job left its device while the answer was on its way', () => {
    const running = [job('a', { state: 'running', device_ids: ['GPU-0'] })];
    const rematch = new Rematch();
    const before = { ...matched('fits'), placed: 0 } as unknown as Training;
    expect(rematch.isDue(before, [], running)).toBe(false);
    expect(rematch.isDue(before, [], [])).toBe(true);
    expect(rematch.isDue(matched('fits'), [], [])).toBe(false);
    expect(rematch.isDue(matched('fits'), [], [])).toBe(true);
  });
});

test('while advice is computed devices and foot are asked anew, and the advice goes on', async () => {
  const estimate = {
    ...{
      status: 'ok',
      questions: [],
      remedies: [],
      fits: [],
      curve: [],
      trainings: [],
      training: null
    },
    ...{ breakdown: null, batch_size: 64, peak_bytes: 100, allocated_peak_bytes: 100 }
  };
  let matches = 0;
  const matched = () =>
    answer(200, JSON.stringify({ facts: {}, estimate, placement: { number: ++matches } }));
  const none = '{"problems": [], "notes": [], "cells": [], "refused": [], "decision": null}';
  const details: (AbortSignal | null | undefined)[] = [];
  let preflights = 0;
  const api = apiOn((url, init) => {
    if (!url.includes('placements')) {
      preflights += Number(url.includes('preflight'));
      return Promise.resolve(answer(200, none));
    }
    const { request } = JSON.parse(init.body as string) as { request: { details: boolean } };
    if (!request.details) {
      return Promise.resolve(matched());
    }
    details.push(init.signal);
    return new Promise(() => undefined);
  });
  const training = new Training(api, source);
  void training.measure();
  await settle();
  await settle();
  expect([training.isDetailing, details.length]).toEqual([true, 1]);
  const before = preflights;
  await training.rematch();
  await settle();
  expect([preflights, details.length, details[0]?.aborted]).toEqual([before + 1, 1, false]);
  expect(training.placement).toEqual({ number: 2 });
  expect(training.isDetailing).toBe(true);
  training.dispose();
});
