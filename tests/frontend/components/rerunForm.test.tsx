/** A number that stands in a call is offered as a variable is, with the call and its cell, and asked for by its name. */

import * as React from 'react';
import { act } from 'react';

import { PlanForm } from '../../../src/components/plans/planForm';
import { RerunForm } from '../../../src/components/rerun/form';
import type { IDevice, IVariable } from '../../../src/domain';
import { NOW, spaceOf } from '../../../src/models/plans/planChoice';
import { RerunForm as Model } from '../../../src/models/jobs/rerun';
import { draw } from '../drawing';
import { job } from '../helpers';

const inCall = (name: string, cell: number): IVariable => ({
  name,
  value: 0.001,
  role: '',
  cell,
  parameter: false,
  call: 'AdamW'
});
const VARIABLES: IVariable[] = [
  { ...inCall('learning_rate@5', 4), role: 'learning_rate' },
  inCall('learning_rate@6', 5),
  { ...inCall('batch_size', 1), value: 64, role: 'batch_size', call: '' }
];

const names = (element: HTMLElement) =>
  [...element.querySelectorAll('label > span:has(code)')].map(one => one.textContent);

test('two numbers of one name are told apart by their cells, and one is asked for', () => {
  const old = job('a');
  old.spec.settings = { variables: VARIABLES, code: '' };
  const model = new Model(old);
  const drawn = draw(<RerunForm model={model} devices={1} />);
  expect(names(drawn)).toEqual([
    'learning_rate@5 AdamW, cell 5',
    'learning_rate@6 AdamW, cell 6',
    'batch_size batch'
  ]);
  const fields = [...drawn.querySelectorAll<HTMLInputElement>('label input')];
  expect(fields.map(field => field.value)).toEqual(['0.001', '0.001', '64']);
  act(() => model.update(() => (model.fields[1].text = '0.01')));
  expect(model.wanted()).toEqual({ values: { 'learning_rate@6': 0.01 } });
  act(() => model.update(() => (model.fields[0].text = '0.1, 0.01')));
  expect(model.sweepBody().space).toEqual({
    'learning_rate@5': '0.1, 0.01',
    'learning_rate@6': [0.01]
  });
});

test('the submit dialogue offers the same', () => {
  const drawn = draw(
    <PlanForm
      plan={NOW}
      planner={{} as never}
      devices={[]}
      variables={VARIABLES}
      noCost={null}
      change={() => undefined}
    />
  );
  expect(names(drawn)[0]).toBe('learning_rate@5 AdamW, cell 5');
  const plan = { ...NOW, values: { 'learning_rate@5': '0.1, 0.01' } };
  expect(spaceOf(plan, VARIABLES)).toEqual({ 'learning_rate@5': '0.1, 0.01' });
});

test('what was refused is unfolded, whenever the variables come', () => {
  const form = (variables: IVariable[]) => (
    <PlanForm
      plan={{ ...NOW, values: { 'learning_rate@5': '0.1:0.5' } }}
      planner={{} as never}
      devices={[]}
      variables={variables}
      noCost={null}
      change={() => undefined}
    />
  );
  draw(form([]));
  expect(draw(form(VARIABLES)).querySelector('details')?.open).toBe(true);
});

test('nobody waits for a card that does not answer', () => {
  const card = (id: string, problem: IDevice['problem']) =>
    ({ id, problem, index: Number(id), kind: 'gpu', name: 'T4', checked: true }) as IDevice;
  const lost = { code: 'gpu_lost', message: 'GPU 1 does not answer.', hint: '' };
  const drawn = draw(
    <PlanForm
      plan={{ ...NOW, when: 'free', device: '0' }}
      planner={{} as never}
      devices={[card('0', null), card('1', lost)]}
      variables={[]}
      noCost={null}
      change={() => undefined}
    />
  );
  const offered = drawn.querySelectorAll('[aria-label="Device that is waited for"] option');
  expect([...offered].map(one => one.textContent)).toEqual(['GPU 0 T4']);
});
