/** What-ifs follow the server's table: each can be seen and taken back, and what a job will not have is said before. */

import * as React from 'react';
import { act } from 'react';

import { AskedFor } from '../../../src/components/estimate/askedFor';
import { Submit } from '../../../src/components/submit/foot';
import { WhatIfForm } from '../../../src/components/estimate/whatIfForm';
import type { IEstimate, IEstimateRequest, IWhatIf } from '../../../src/domain';
import { AS_USUAL } from '../../../src/models/submit/choice';
import type { PanelModel } from '../../../src/models/panel';
import type { Training } from '../../../src/models/estimate/training';
import { askedFor } from '../../../src/models/estimate/whatIfs';
import { draw, press } from '../drawing';

const NOTHING = { asked: '', least: null, choices: [], follows: '', if_known: false, fact: '' };

/** A table that no server has: one row of each kind. */
const TABLE: IWhatIf[] = [
  {
    ...NOTHING,
    name: 'stages',
    kind: 'count',
    label: 'Stages',
    asked: 'in {value} stages of {value}',
    least: 1,
    in_jobs: true
  },
  {
    ...NOTHING,
    name: 'packing',
    kind: 'choice',
    label: 'Packing',
    choices: [
      { value: 'loose', label: 'loose', asked: 'packed loosely' },
      { value: 'dense', label: 'dense', asked: 'packed densely' }
    ],
    in_jobs: false
  },
  {
    ...NOTHING,
    name: 'offload',
    kind: 'switch',
    label: 'Offload',
    choices: [
      { value: true, label: 'on', asked: 'with offload' },
      { value: false, label: 'off', asked: 'without offload' }
    ],
    follows: 'packing',
    in_jobs: false
  },
  {
    ...NOTHING,
    name: 'image_size',
    kind: 'count',
    label: 'Images',
    asked: 'with images of {value}',
    least: 1,
    if_known: true,
    in_jobs: false
  },
  {
    ...NOTHING,
    name: 'nodes',
    kind: 'count',
    label: 'Nodes',
    asked: 'on {value}',
    least: 1,
    if_known: true,
    fact: 'distribution',
    in_jobs: false
  }
];

function training(request: object, more: object = {}): Training {
  return {
    request: request as IEstimateRequest,
    whatIfs: TABLE,
    facts: { stages: { value: 8 }, cells: [{ source: 'import paddle' }] },
    factsError: null,
    placement: null,
    isEstimating: false,
    submission: {
      choice: AS_USUAL,
      hindrances: [],
      changes: null,
      decision: null,
      error: null
    },
    source: { name: 'a.ipynb' },
    models: { list: [], chosen: '' },
    ...more
  } as unknown as Training;
}

const labels = (request: object) => askedFor(training(request)).map(({ label }) => label);

test.each<[object, string]>([
  [{ stages: 4 }, 'in 4 stages of 4'],
  [{ packing: 'dense' }, 'packed densely'],
  [{ offload: true }, 'with offload'],
  [{ offload: false }, 'without offload'],
  [{ answers: { vocab_size: 8 } }, 'vocab_size = 8']
])('%j can be seen, and taking it back leaves nothing', (request, label) => {
  expect(labels(request)).toEqual([label]);
  const [{ undo }] = askedFor(training(request));
  expect(labels({ ...request, ...undo })).toEqual([]);
});

test('what follows another what-if goes with it', () => {
  const request = { packing: 'dense', offload: true };
  expect(labels(request)).toEqual(['packed densely', 'with offload']);
  expect(labels({ ...request, ...askedFor(training(request))[0].undo })).toEqual([]);
});

test('what the notebook has anyway is not asked for', () => {
  expect(labels({ stages: 8, packing: 'loose' })).toEqual(['packed loosely']);
});

test('a submit says what its job has, and what only the estimate was asked for', () => {
  const model = {
    engines: [],
    engineOf: () => undefined,
    devicesOf: () => null,
    jobs: { list: [] }
  } as unknown as PanelModel;
  const asked = { stages: 4, packing: 'dense', answers: { vocab_size: 8 } };
  const box = draw(<Submit model={model} training={training(asked)} />);
  expect(box.querySelector('p')?.textContent).toContain('in 4 stages of 4 · vocab_size = 8');
  const note = box.querySelector('[role=note]')?.textContent;
  expect(note).toContain('Not all that is asked for is in the job.');
  expect(note).toContain('Only in the estimate: packed densely.');
  draw(<Submit model={model} training={training({ stages: 4 })} />);
  expect(box.querySelector('[role=note]')).toBeNull();
});

test('a press takes back what stands beside the number', () => {
  const ask = jest.fn();
  const box = draw(<AskedFor training={training({ packing: 'dense' }, { ask })} />);
  expect(box.textContent).toContain('packed densely');
  press('×');
  expect(ask).toHaveBeenCalledWith({ packing: null, offload: null });
});

describe('the form', () => {
  const estimate = { status: 'ok', stages: 8, image_size: null } as unknown as IEstimate;
  const headings = (box: HTMLElement) =>
    [...box.querySelectorAll('label > span')].map(span => span.textContent);
  const field = (box: HTMLElement, heading: string) =>
    [...box.querySelectorAll('label')].find(one => one.textContent?.startsWith(heading))
      ?.lastElementChild as HTMLInputElement | HTMLSelectElement;

  /** Type or choose, as React hears it. */
  function fill(input: HTMLInputElement | HTMLSelectElement, value: string): void {
    const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value')?.set;
    act(() => {
      set?.call(input, value);
      const type = input instanceof HTMLSelectElement ? 'change' : 'input';
      input.dispatchEvent(new Event(type, { bubbles: true }));
    });
  }

  function submit(box: HTMLElement): void {
    const form = box.querySelector('form');
    act(() => {
      form?.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    });
  }

  test('has a field for each row that makes sense, with what the notebook has', () => {
    const form = (more: object) => (
      <WhatIfForm estimate={{ ...estimate, ...more }} training={training({})} />
    );
    const box = draw(form({}));
    expect(headings(box)).toEqual(['Stages', 'Packing']);
    expect((field(box, 'Stages') as HTMLInputElement).placeholder).toBe('8');
    expect(field(box, 'Packing').textContent).toBe('unchangedloosedense');
    draw(form({ image_size: [224, 160] }));
    expect(headings(box)).toEqual(['Stages', 'Packing', 'Images']);
    expect((field(box, 'Images') as HTMLInputElement).placeholder).toBe('224');
  });

  test('has a field that a fact of the code asks for', () => {
    const facts = { distribution: { value: 'data_parallel' } };
    const box = draw(<WhatIfForm estimate={estimate} training={training({}, { facts })} />);
    expect(headings(box)).toEqual(['Stages', 'Packing', 'Nodes']);
    expect((field(box, 'Nodes') as HTMLInputElement).placeholder).toBe('1');
    const none = { distribution: { value: 'none' } };
    draw(<WhatIfForm estimate={estimate} training={training({}, { facts: none })} />);
    expect(headings(box)).toEqual(['Stages', 'Packing']);
  });

  test('asks for what was chosen, in the types of the table', () => {
    const ask = jest.fn();
    const box = draw(<WhatIfForm estimate={estimate} training={training({}, { ask })} />);
    fill(field(box, 'Stages'), '4');
    fill(field(box, 'Packing'), 'dense');
    fill(field(box, 'Offload'), 'false');
    submit(box);
    const rest = { image_size: null, nodes: null };
    expect(ask).toHaveBeenLastCalledWith({
      stages: 4,
      packing: 'dense',
      offload: false,
      ...rest
    });
    fill(field(box, 'Packing'), '');
    submit(box);
    expect(ask).toHaveBeenLastCalledWith({ stages: 4, packing: null, offload: null, ...rest });
  });
});

test.each([
  [' \n', true, 'There is no code in this notebook yet.'],
  ['import paddle', false, 'starts now']
])('of a notebook with %j a job can be made: not %s', (source, disabled, said) => {
  const model = {
    engines: [],
    engineOf: () => undefined,
    devicesOf: () => null,
    jobs: { list: [] }
  } as unknown as PanelModel;
  const box = draw(
    <Submit model={model} training={training({}, { facts: { cells: [{ source }] } })} />
  );
  expect(box.querySelector('button')?.disabled).toBe(disabled);
  expect(box.querySelector('p')?.textContent).toBe(said);
});

test.each([
  ['running', 1, [], 'here · CPU · starts when a running job has ended'],
  ['running', 2, [], 'here · CPU · starts now'],
  ['running', null, [], 'here · CPU · starts now'],
  ['running', 1, ['GPU-0'], 'here · CPU · starts now'],
  ['succeeded', 1, [], 'here · CPU · starts now']
])(
  'beside a job that is %s, of %j at once, on %j, the foot says %s',
  (state, cpu_slots, device_ids, said) => {
    const engine = { name: 'local', available: true, cpu_slots, title: { message: 'here' } };
    const model = {
      engines: [engine],
      engineOf: () => engine,
      devicesOf: () => ({ devices: [] }),
      jobs: { list: [{ state, device_ids, spec: { engine: 'local' } }] }
    } as unknown as PanelModel;
    const box = draw(
      <Submit
        model={model}
        training={training({}, { facts: { cells: [{ source: 'import paddle' }] } })}
      />
    );
    expect(box.querySelector('p')?.textContent).toBe(said);
  }
);
