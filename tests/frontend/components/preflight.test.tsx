/** What a submit would be refused with is said before somebody clicks. */

import * as React from 'react';

import { Submit } from '../../../src/components/submit/foot';
import type { PanelModel } from '../../../src/models/panel';
import { Training } from '../../../src/models/estimate/training';
import { draw } from '../drawing';
import { answer, apiOn, settle, source } from '../helpers';

const problem = {
  code: 'gpu_toolkit_missing',
  message: 'This Docker daemon cannot hand out GPUs.',
  hint: 'Run `sudo nvidia-ctk runtime configure`.'
};
const model = {
  engines: [],
  engineOf: () => undefined,
  devicesOf: () => null,
  jobs: { list: [] }
} as unknown as PanelModel;

beforeAll(() => {
  Element.prototype.scrollIntoView = () => undefined; // jsdom lays nothing out
});

/** A server that answers preflights so, one after the other, and refuses every submit. */
function server(...answers: object[][]): { training: Training; asked: object[] } {
  const asked: object[] = [];
  const api = apiOn((url, init) => {
    if (!url.endsWith('preflights')) {
      return Promise.resolve(answer(409, JSON.stringify(problem)));
    }
    asked.push(JSON.parse(init.body as string) as object);
    return Promise.resolve(
      answer(
        200,
        JSON.stringify({ problems: answers.shift() ?? [], notes: [], decision: null })
      )
    );
  });
  return { training: new Training(api, source), asked };
}

test('a choice is looked at at once, and the next step stands beside the button', async () => {
  const { training, asked } = server([problem], []);
  training.choose({ engine: 'docker', gpus: 1, deviceIds: ['GPU-0'] });
  await settle();
  expect(asked).toEqual([
    {
      path: 'a.ipynb',
      request: {},
      engine: 'docker',
      resources: { gpus: 1, device_ids: ['GPU-0'] }
    }
  ]);
  const box = draw(<Submit model={model} training={training} />);
  expect(box.querySelector('[role=note]')?.textContent).toContain('sudo nvidia-ctk');
  expect(box.querySelector('button')?.disabled).toBe(false);
  training.choose({ engine: 'local' });
  expect(training.submission.hindrances).toEqual([]);
  await settle();
  expect(training.submission.hindrances).toEqual([]);
});

test('what the submit itself says is not said twice', async () => {
  const { training } = server([problem], [problem]);
  await training.submission.preflight();
  await training.submission.submit();
  await settle(); // after a refusal it is asked anew what would lead to a job
  expect(training.submission.hindrances).toHaveLength(1);
  const box = draw(<Submit model={model} training={training} />);
  expect(box.textContent?.split(problem.message)).toHaveLength(2);
});

test('where nobody can say, nothing is said', async () => {
  const api = apiOn(() => Promise.reject(new Error('There is nobody.')));
  const training = new Training(api, source);
  await training.submission.preflight();
  expect(training.submission.hindrances).toEqual([]);
});
