/** An edit is followed whatever is under way: an estimate, the reading of older code, an inspection that hangs. */

import { Training } from '../../../src/models/estimate/training';
import { answer, apiOn, settle, source } from '../helpers';

const ESTIMATE = {
  ...{ status: 'ok', fits: [], trainings: [], training: null, questions: [], remedies: [] },
  ...{ peak_bytes: 1, allocated_peak_bytes: 1, breakdown: null }
};

/** A notebook whose code is typed, and a server that answers when it is told to. */
function place() {
  let code = 'batch = 1';
  const asked: { what: string; code: string; answer: (status?: number) => Promise<void> }[] =
    [];
  const api = apiOn((url, init) => {
    const what = /inspections|placements/.exec(url)?.[0];
    if (!what) {
      return Promise.resolve(answer(404, '{}'));
    }
    const { path } = JSON.parse(String(init.body)) as { path: string };
    const facts = { notebook: path };
    const told =
      what === 'inspections' ? facts : { facts, estimate: ESTIMATE, placement: null };
    return new Promise(done =>
      asked.push({
        ...{ what, code: path },
        answer: (status = 200) => (done(answer(status, JSON.stringify(told))), settle())
      })
    );
  });
  const training = new Training(api, {
    ...source,
    body: () => ({ path: code }),
    fingerprint: () => code
  });
  training.follows = true;
  const type = async (text: string) => {
    code = text;
    training.edited();
    await jest.advanceTimersByTimeAsync(700);
    await settle();
  };
  const of = (what: string, text: string) =>
    asked.filter(one => one.what === what && one.code === text);
  return { training, type, of };
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

test('an edit during an estimate is estimated after it', async () => {
  const { training, type, of } = place();
  void training.measure();
  await settle();
  await type('batch = 2');
  await of('placements', 'batch = 1')[0].answer();
  await jest.advanceTimersByTimeAsync(700);
  expect(of('placements', 'batch = 2')).toHaveLength(1);
  await of('placements', 'batch = 2')[0].answer();
  expect(training.stale).toBe(false);
});

test('an estimate does not wait for a reading, whose late answer is no news', async () => {
  const { training, type, of } = place();
  void training.measure();
  await settle();
  await of('placements', 'batch = 1')[0].answer();
  await type('batch = 2');
  await of('placements', 'batch = 2')[0].answer();
  expect(training.facts).toEqual({ notebook: 'batch = 2' });
  await type('batch = 3');
  await of('placements', 'batch = 3')[0].answer();
  await of('inspections', 'batch = 3')[0].answer();
  await of('inspections', 'batch = 2')[0].answer();
  expect(training.facts).toEqual({ notebook: 'batch = 3' });
  expect(training.stale).toBe(false);
});

test('an estimate that failed is not tried again by itself', async () => {
  const { training, type, of } = place();
  void training.measure();
  await settle();
  await of('placements', 'batch = 1')[0].answer();
  await type('batch = 2');
  await of('placements', 'batch = 2')[0].answer(500);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(training.estimateError).not.toBeNull();
  expect(of('placements', 'batch = 2')).toHaveLength(1);
});
