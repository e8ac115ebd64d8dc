/** An estimate that somebody does not want to wait for. */

import { Training } from '../../../src/models/estimate/training';
import { answer, apiOn, settle, source } from '../helpers';

test('an estimate that is stopped leaves what was known, and ends its question', async () => {
  const open: { signal: AbortSignal | null; come: () => void }[] = [];
  const api = apiOn((url, init) => {
    if (!url.includes('placements')) {
      return Promise.resolve(
        answer(
          200,
          '{"problems": [], "notes": [], "cells": [], "refused": [], "decision": null}'
        )
      );
    }
    const { request } = JSON.parse(init.body as string) as {
      request: { batch_size?: number; details: boolean };
    };
    const estimate = {
      status: 'ok',
      questions: [],
      remedies: [],
      fits: [],
      trainings: [],
      training: null,
      breakdown: null,
      batch_size: request.batch_size ?? 64,
      peak_bytes: 100,
      allocated_peak_bytes: 100
    };
    const said = answer(200, JSON.stringify({ facts: {}, estimate, placement: null }));
    return new Promise(done =>
      open.push({ signal: init.signal ?? null, come: () => done(said) })
    );
  });
  const training = new Training(api, source);
  void training.measure();
  await settle();
  open[0].come();
  await settle();
  void training.ask({ batch_size: 128 });
  await settle();
  const last = open[open.length - 1];
  expect([training.isEstimating, last.signal?.aborted]).toEqual([true, false]);

  training.stop();
  expect([training.isEstimating, last.signal?.aborted]).toEqual([false, true]);
  last.come();
  await settle();
  // What the number is not of is asked for no longer.
  expect([training.estimate?.batch_size, training.request.batch_size]).toEqual([64, undefined]);
  training.dispose();
});

test('a first estimate that is stopped leaves what was asked', async () => {
  const api = apiOn(() => new Promise(() => undefined));
  const training = new Training(api, source);
  void training.ask({ answers: { size: 3 } });
  await settle();
  training.stop();
  expect([training.isEstimating, training.estimate]).toEqual([false, null]);
  expect(training.request.answers).toEqual({ size: 3 });
  training.dispose();
});
