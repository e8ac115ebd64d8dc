/** An open question is put to the notebook's kernel first; what it holds goes with the next request for an estimate. */

import type { IQuestion, Value } from '../../../src/domain';
import { Training } from '../../../src/models/estimate/training';
import type { ILiveKernel } from '../../../src/models/notebook/liveKernel';
import { answer, apiOn, source } from '../helpers';

const QUESTION = { name: 'loader', kind: 'batch', suggestion: null, holders: ['x', 'y'] };

/**
 * The requests that were made for an estimate with what the kernel said, and the suggestion that is shown.
 *
 * @param later what it holds once a cell has run, and once a second one has.
 */
async function asked(
  held: Record<string, Value>,
  later?: Record<string, Value>
): Promise<[unknown[], unknown]> {
  const requests: { held?: Record<string, Value> }[] = [];
  const questions: (readonly IQuestion[])[] = [];
  const kernel: ILiveKernel = {
    isBusy: false,
    models: () => Promise.resolve([]),
    trace: () => Promise.resolve(null),
    held: open => {
      questions.push(open);
      return Promise.resolve(questions.length > 1 && later ? later : held);
    }
  };
  const api = apiOn((url, init) => {
    if (!url.includes('placements') || !init.body) {
      return Promise.resolve(answer(404, '{}'));
    }
    const { request } = JSON.parse(String(init.body)) as { request: (typeof requests)[number] };
    requests.push(request);
    const suggestion = request.held?.loader ?? null;
    const figures = {
      fits: [],
      trainings: [],
      training: null,
      peak_bytes: null,
      allocated_peak_bytes: null,
      breakdown: null
    };
    const estimate = {
      ...figures,
      status: 'needs_input',
      questions: [{ ...QUESTION, suggestion }],
      remedies: []
    };
    return Promise.resolve(
      answer(200, JSON.stringify({ facts: {}, estimate, placement: null }))
    );
  });
  const training = new Training(api, { ...source, kernel });
  await training.measure();
  expect(training.estimateError).toBeNull();
  expect(questions).toEqual([[QUESTION]]);
  if (later) {
    await training.lookAtKernel(true);
    await training.lookAtKernel(true);
  }
  return [requests.map(one => one.held), training.estimate?.questions[0].suggestion];
}

test('what the kernel holds is suggested', async () => {
  const held = { loader: 'float32[4,3] int64[4]' };
  expect(await asked(held)).toEqual([[undefined, held], held.loader]);
});

test('a kernel that holds nothing of it costs no second estimate', async () => {
  expect(await asked({})).toEqual([[undefined], null]);
});

test('what a cell makes that runs behind the question is suggested then, and asked for once', async () => {
  const later = { loader: 'float32[8,3] int64[8]' };
  expect(await asked({}, later)).toEqual([[undefined, undefined, later], later.loader]);
  const [requests] = await asked({}, {});
  expect(requests).toEqual([undefined]);
});
