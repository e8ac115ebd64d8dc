/** What the panel compares with is the notebook as it is now, also after a change was written and taken back. */

import { Training } from '../../../src/models/estimate/training';
import { ownBatch } from '../../../src/models/estimate/own';
import { answer, apiOn, settle, source } from '../helpers';

interface IAsked {
  request: { batch_size?: number; amp?: string };
  content: { batch: number };
}

const WHAT_IFS = [
  { name: 'batch_size', in_jobs: true },
  { name: 'amp', in_jobs: true }
] as unknown as Training['whatIfs'];

test('a change that was written and taken back is not the notebook any more', async () => {
  let batch = 64;
  const api = apiOn((url, init) => {
    if (url.endsWith('changes')) {
      const cells = [{ cell: 0, before: 'x', after: 'y', tags: [] }];
      const changes = { cells, files: [], refused: [], says: [], difference: '' };
      return Promise.resolve(answer(200, JSON.stringify(changes)));
    }
    if (!url.includes('placements') || !init.body) {
      return Promise.resolve(answer(404, '{}'));
    }
    const { request, content } = JSON.parse(String(init.body)) as IAsked;
    const batch_size = request.batch_size ?? content.batch;
    const bytes = batch_size * (request.amp ? 5 : 10);
    const estimate = {
      status: 'ok',
      questions: [],
      remedies: [],
      fits: [],
      trainings: [],
      training: null,
      breakdown: null,
      batch_size,
      peak_bytes: bytes,
      allocated_peak_bytes: bytes
    };
    const facts = { batch_size: { value: content.batch } };
    return Promise.resolve(answer(200, JSON.stringify({ facts, estimate, placement: null })));
  });
  const training = new Training(api, {
    ...source,
    body: () => ({ path: 'a.ipynb', content: { batch } }),
    fingerprint: () => `batch = ${batch}`,
    write: () => void (batch = 16)
  });
  training.whatIfs = WHAT_IFS;
  const figures = () => [training.estimate?.peak_bytes, training.own?.peak_bytes];

  await training.measure();
  await training.ask({ batch_size: 16 });
  expect(figures()).toEqual([160, 640]);
  await settle();
  expect(training.submission.changes?.cells).toHaveLength(1);
  await training.write(() => Promise.reject());
  expect(figures()).toEqual([160, 160]);
  batch = 64; // Ctrl+Z in the cell
  await training.ask({ amp: 'O1' });
  expect(figures()).toEqual([320, 640]);
  batch = 128; // typed, and nothing was estimated of it as it is
  await training.ask({ batch_size: 32 });
  expect(figures()).toEqual([160, undefined]);
  expect(ownBatch(training.own, training.facts, training.estimate)).toBe(128);
  training.dispose();
});
