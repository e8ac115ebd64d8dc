/** Wishes: each can be seen and taken back, and what a job will not have is said before it is submitted. */

import * as React from 'react';

import { Submit } from '../../src/components/submit';
import { wishesOf } from '../../src/components/wishes';
import type { IEstimateRequest } from '../../src/domain';
import type { PanelModel } from '../../src/models/panel';
import type { Training } from '../../src/models/training';
import { draw } from './drawing';
import { trans } from './helpers';

function training(request: IEstimateRequest): Training {
  return {
    request,
    facts: { batch_size: { value: 128 } },
    factsError: null,
    submitError: null,
    hindrances: [],
    placement: null,
    isSubmitting: false,
    choice: { engine: '', gpus: null, deviceIds: [] }
  } as unknown as Training;
}

const labels = (request: IEstimateRequest) =>
  wishesOf(training(request), trans).map(({ label }) => label);

test.each<[IEstimateRequest, string]>([
  [{ batch_size: 64 }, 'with batch 64'],
  [{ amp: 'off' }, 'without mixed precision'],
  [{ amp: 'O1', amp_dtype: 'float16' }, 'with mixed precision O1'],
  [{ recompute: true }, 'with recompute'],
  [{ accumulation: 4 }, 'with 4 steps accumulated'],
  [{ set_to_zero: false }, 'with gradients freed'],
  [{ image_size: 64 }, 'with images of 64 × 64 pixels'],
  [{ sequence_length: 512 }, 'with sequences of length 512'],
  [{ devices: 2 }, 'on 2 devices'],
  [{ answers: { vocab_size: 8 } }, 'vocab_size = 8']
])('%j can be seen, and taking it back leaves nothing', (request, label) => {
  expect(labels(request)).toEqual([label]);
  const [{ undo }] = wishesOf(training(request), trans);
  expect(labels({ ...request, ...undo })).toEqual([]);
});

test('an advice that keeps the batch size of the notebook is one wish', () => {
  expect(labels({ batch_size: 128, accumulation: 4 })).toEqual(['with 4 steps accumulated']);
});

test('a submit says what its job has, and what only the estimate was asked for', () => {
  const model = { engines: [], inventory: null } as unknown as PanelModel;
  const asked = { batch_size: 64, recompute: true, answers: { vocab_size: 8 } };
  const box = draw(<Submit model={model} training={training(asked)} />);
  expect(box.querySelector('p')?.textContent).toContain('with batch 64 · vocab_size = 8');
  const note = box.querySelector('[role=note]')?.textContent;
  expect(note).toContain('The job runs the notebook as it is written.');
  expect(note).toContain('Only in the estimate: with recompute.');
  draw(<Submit model={model} training={training({ batch_size: 64 })} />);
  expect(box.querySelector('[role=note]')).toBeNull();
});
