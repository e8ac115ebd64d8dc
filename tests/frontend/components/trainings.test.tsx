/** Where a notebook holds several trainings, the panel lists them and asks for the one that is chosen. */

import * as React from 'react';
import { act } from 'react';

import { Trainings } from '../../../src/components/estimate/trainings';
import type { IEstimate, ITraining } from '../../../src/domain';
import type { Training } from '../../../src/models/estimate/training';
import { draw } from '../drawing';

const LENET: ITraining = {
  id: '1',
  model: 'LeNet',
  batch_size: 64,
  where: { cell: 1, line: 3 },
  allocated_peak_bytes: 5 * 1024 * 1024
};
const RESNET: ITraining = {
  id: '2',
  model: 'ResNet',
  batch_size: 256,
  where: { cell: 3, line: 1 },
  allocated_peak_bytes: 12.3 * 1024 ** 3
};
const LATER: ITraining = {
  id: '3',
  model: null,
  batch_size: null,
  where: { cell: 6, line: 2 },
  allocated_peak_bytes: null
};

const asked: object[] = [];
const training = {
  request: {},
  isEstimating: false,
  ask: (change: object) => {
    asked.push(change);
    return Promise.resolve();
  }
} as unknown as Training;

function shown(trainings: ITraining[], id: string | null): HTMLElement {
  const estimate = { trainings, training: id } as unknown as IEstimate;
  return draw(<Trainings estimate={estimate} training={training} />);
}

test('one training needs no list', () => {
  expect(shown([LENET], '1').textContent).toBe('');
});

test('those of a script are named by their lines', () => {
  const estimate = { trainings: [LENET, RESNET], training: '1' } as unknown as IEstimate;
  const ofScript = { ...training, facts: { is_script: true } } as unknown as Training;
  const options = draw(<Trainings estimate={estimate} training={ofScript} />).querySelectorAll(
    'option'
  );
  expect([...options].map(one => one.textContent)).toEqual([
    'LeNet · line 3 · batch 64 · 5.00 MiB',
    'ResNet · line 1 · batch 256 · 12.3 GiB'
  ]);
});

test('each is named by model, cell, batch and need; one that was not reached cannot be chosen', () => {
  const options = [...shown([LENET, RESNET, LATER], '2').querySelectorAll('option')];
  expect(options.map(one => [one.textContent, one.selected, one.disabled])).toEqual([
    ['LeNet · cell 2 · batch 64 · 5.00 MiB', false, false],
    ['ResNet · cell 4 · batch 256 · 12.3 GiB', true, false],
    ['3 · cell 7 · not reached', false, true]
  ]);
});

test('the one that is chosen is asked for', () => {
  const select = shown([LENET, RESNET], '2').querySelector('select') as HTMLSelectElement;
  act(() => {
    select.value = '1';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  expect(asked).toEqual([{ training: '1' }]);
});
