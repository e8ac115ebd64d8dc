/** A training that fits nothing here: the sentence, and each way out as a button that leads on. */

import { Submit } from '../../../../src/components/submit/foot';
import type { PanelModel } from '../../../../src/models/panel';
import { ApiError } from '../../../../src/api';
import { Training } from '../../../../src/models/estimate/training';
import { draw } from '../../drawing';
import { answer, apiOn, settle, source } from '../../helpers';
import * as React from 'react';

const model = {
  engines: [],
  engineOf: () => undefined,
  devicesOf: () => null,
  jobs: { list: [] }
} as unknown as PanelModel;
const sentence = (message: string, code = '') => ({ code, message, hint: '' });
const NOTHING = { says: [], cells: [], files: [], difference: '', refused: [], written: [] };
const decision = {
  outcome: 'refuse',
  reason: {
    code: 'fits_nowhere',
    message: 'Needs 24.1 GiB; the largest card here offers at most 22.3 GiB.',
    hint: 'Fits with batch size 252, or with mixed precision O1 at batch size 410.'
  },
  device_ids: [],
  notes: [],
  searched: true,
  ways: [
    {
      change: 'batch_size',
      message: sentence('with batch size 252'),
      label: sentence('Batch size 252'),
      request: { batch_size: 252 },
      gpus: null,
      device_ids: []
    },
    {
      change: 'amp',
      message: sentence('with mixed precision O1 at batch size 410'),
      label: sentence('AMP O1, batch size 410'),
      request: { amp: 'O1', batch_size: 410 },
      gpus: null,
      device_ids: []
    },
    {
      change: 'gpus',
      message: sentence('on 1 GPU'),
      label: sentence('1 GPU'),
      request: {},
      gpus: 1,
      device_ids: []
    }
  ]
};

beforeAll(() => {
  Element.prototype.scrollIntoView = () => undefined; // jsdom lays nothing out
});

/** A server that refuses every submit for want of memory, and remembers what it was sent. */
async function refused(): Promise<{ training: Training; sent: [string, object][] }> {
  const sent: [string, object][] = [];
  const api = apiOn((url, init) => {
    const route = url.split('/').pop() ?? '';
    sent.push([route, JSON.parse(init.body as string) as object]);
    return route === 'preflights'
      ? Promise.resolve(
          answer(200, JSON.stringify({ problems: [decision.reason], notes: [], decision }))
        )
      : Promise.resolve(answer(409, JSON.stringify(decision.reason)));
  });
  const training = new Training(api, source);
  await training.submission.preflight();
  return { training, sent };
}

const buttons = (box: HTMLElement) => [
  ...box.querySelectorAll<HTMLButtonElement>('[data-code=fits_nowhere] button')
];

test('the sentence stands once, with a button for each way out', async () => {
  const { training } = await refused();
  await training.submission.submit();
  await settle();
  const box = draw(<Submit model={model} training={training} />);
  expect(box.textContent?.split(decision.reason.message)).toHaveLength(2);
  expect(box.textContent).toContain(decision.reason.hint);
  expect(buttons(box).map(button => button.textContent)).toEqual([
    'Batch size 252',
    'AMP O1, batch size 410',
    '1 GPU',
    'Submit anyway'
  ]);
});

test('a way out is asked for, or chosen', async () => {
  const { training, sent } = await refused();
  const box = draw(<Submit model={model} training={training} />);
  buttons(box)[1].click();
  await settle();
  expect(training.request).toEqual({ amp: 'O1', batch_size: 410 });
  expect(sent[1]).toEqual([
    'placements',
    { path: 'a.ipynb', request: { amp: 'O1', batch_size: 410, details: false } }
  ]);
  buttons(box)[2].click();
  await settle();
  expect(training.submission.choice.gpus).toBe(1);
});

test('whoever insists says so to the server', async () => {
  const { training, sent } = await refused();
  await training.submission.submit(true);
  expect(sent[1][1]).toMatchObject({ anyway: true });
});

test('while it is looked for, that is said', async () => {
  const { training } = await refused();
  const { submission } = training;
  submission.decision = {
    ...decision,
    searched: false,
    ways: []
  } as unknown as typeof submission.decision;
  training.isDetailing = true;
  const box = draw(<Submit model={model} training={training} />);
  expect(box.querySelector('[role=status]')?.textContent).toBe('Looking for what would fit…');
  expect(box.textContent).not.toContain('Fits with');
});

test('what the rules of the place refuse is not offered anyway', async () => {
  const { training } = await refused();
  const offered = () => {
    const box = draw(<Submit model={model} training={training} />);
    return box.textContent?.includes('Submit anyway');
  };
  expect(offered()).toBe(true);
  training.submission.decision = {
    ...decision,
    final: true
  } as unknown as typeof training.submission.decision;
  expect(offered()).toBe(false);
});

test('what the copy cannot have is told once, beside the difference', async () => {
  const { training } = await refused();
  const { submission } = training;
  const why = sentence('Nothing says what sizes the batch.', 'batch_size_unnamed');
  submission.changes = { ...NOTHING, refused: [{ change: 'batch_size', why }] };
  submission.decision = {
    ...decision,
    final: true,
    reason: why,
    ways: []
  } as unknown as typeof submission.decision;
  submission.error = new ApiError(why.code, why.message, why.hint, 422);
  const box = draw(<Submit model={model} training={training} />);
  expect(box.textContent?.split(why.message)).toHaveLength(2);
});

test('a share of each device is matched as it is submitted', async () => {
  const { training, sent } = await refused();
  training.choose({ share: 0.5 });
  await training.measure();
  const [, body] = sent.find(([route]) => route === 'placements') ?? [];
  expect(body).toMatchObject({ share: 0.5 });
});

test('a wait says who has the devices, and what would start sooner', async () => {
  const { training } = await refused();
  const { submission } = training;
  submission.decision = {
    ...decision,
    outcome: 'wait',
    reason: sentence('No device with enough memory is free now.', 'waits'),
    notes: [
      sentence('Job a has GPU 0 (Card) for about 16 min more.', 'has_until'),
      sentence('Job b has GPU 1 (Card) for about 2 h more.', 'has_until')
    ],
    ways: [
      {
        ...decision.ways[2],
        label: sentence('Wait for GPU 0 (about 16 min)'),
        gpus: null,
        device_ids: ['GPU-0']
      },
      { ...decision.ways[2], label: sentence('Run on the CPU'), gpus: 0 }
    ]
  } as unknown as typeof submission.decision;
  const box = draw(<Submit model={model} training={training} />);
  const note = box.querySelector('[data-code=waits]') as HTMLElement;
  expect(note.textContent).toContain('Job a has GPU 0');
  expect(note.textContent).toContain('Job b has GPU 1');
  const [wait, cpu, ...others] = note.querySelectorAll('button');
  expect([cpu.textContent, others]).toEqual(['Run on the CPU', []]);
  wait.click();
  await settle();
  expect(submission.choice.deviceIds).toEqual(['GPU-0']);
  cpu.click();
  await settle();
  expect(submission.choice.gpus).toBe(0);
});
