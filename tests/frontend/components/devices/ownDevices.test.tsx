/** A job's devices are those of its engine: the picker, and what the panel says of them, follow the choice. */

import { Signal } from '@lumino/signaling';
import * as React from 'react';

import { ChoiceForm } from '../../../../src/components/submit/choiceForm';
import type { IQueueView } from '../../../../src/domain';
import { EventStream } from '../../../../src/events';
import type { ActiveNotebook } from '../../../../src/models/notebook/notebook';
import { otherwise } from '../../../../src/models/submit/choice';
import { PanelModel } from '../../../../src/models/panel';
import type { Training } from '../../../../src/models/estimate/training';
import { draw } from '../../drawing';
import { answer, apiOn, settle, source } from '../../helpers';

const engine = (name: string, more: object = {}) => ({
  name,
  title: { code: name, message: name, hint: '' },
  gpus: true,
  several_devices: true,
  available: true,
  containers: false,
  problems: [],
  own_devices: false,
  assigns_devices: false,
  ...more
});
const inventory = (...names: string[]) => ({
  time: 0,
  host: { cpu_count: 1, cpu_percent: 0, memory_total: 1, memory_available: 1 },
  devices: names.map((name, index) => ({
    id: name,
    name,
    index,
    kind: 'gpu',
    simulated: false,
    checked: true,
    memory_total: null,
    processes: []
  })),
  drivers: {},
  problems: []
});

async function panel(more: object = {}): Promise<{ model: PanelModel; training: Training }> {
  const answers: Record<string, unknown> = {
    version: { version: '' },
    engines: [engine('here'), engine('cluster', { own_devices: true, ...more })],
    devices: inventory('T4'),
    'devices?engine=cluster': inventory('H100', 'H800'),
    jobs: { jobs: [] },
    accelerators: [],
    'what-ifs': [],
    preflights: { problems: [], notes: [] }
  };
  const api = apiOn(url =>
    Promise.resolve(answer(200, JSON.stringify(answers[url.replace(/.*\/api\//, '')] ?? {})))
  );
  const owner = {};
  const signals = { renamed: owner, changed: owner, edited: owner, executed: owner };
  const notebook = {
    ...Object.fromEntries(Object.keys(signals).map(name => [name, new Signal(owner)])),
    current: source,
    dispose: () => undefined
  } as unknown as ActiveNotebook;
  const model = new PanelModel(api, new EventStream(api), notebook);
  await model.connect();
  return { model, training: model.training as Training };
}

function shown(
  { model, training }: { model: PanelModel; training: Training },
  queue: IQueueView | null = null
): string[] {
  const box = draw(
    <ChoiceForm
      model={model}
      training={training}
      choice={training.submission.choice}
      images={[]}
      receivers={[]}
      queue={queue}
      names={[]}
      choose={choice => training.choose(choice)}
    />
  );
  return [...box.querySelectorAll('input[type=checkbox]')].map(
    one => one.parentElement?.textContent ?? ''
  );
}

beforeAll(() => {
  Element.prototype.scrollIntoView = () => undefined; // jsdom lays nothing out
});

test('the picker offers the devices of the engine that was chosen', async () => {
  const it = await panel();
  expect(shown(it)).toEqual(['GPU 0 T4']);
  it.training.choose({ engine: 'cluster' });
  await settle();
  expect(shown(it)).toEqual(['GPU 0 H100', 'GPU 1 H800']);
  it.training.choose({ engine: 'here' });
  expect(shown(it)).toEqual(['GPU 0 T4']);
  it.model.dispose();
});

test('what the policy gives the user stands under the priority', async () => {
  const it = await panel();
  const queue = { time: 0, entries: [], shared: true, usage: {}, priority: 7, quota: 2 };
  shown(it, queue);
  expect(document.body.textContent).toContain('The policy gives your jobs priority 7.');
  expect(document.body.textContent).toContain('The policy gives your jobs 2 devices at once.');
  shown(it, { ...queue, shared: false, quota: null });
  expect(document.body.textContent).not.toContain('The policy gives');
  it.model.dispose();
});

test('a device that was chosen does not go along to an engine that has others', async () => {
  const it = await panel();
  it.training.choose({ gpus: 1, deviceIds: ['T4'] });
  shown(it);
  const [, cluster] = document.querySelectorAll<HTMLInputElement>('fieldset input[type=radio]');
  cluster.click();
  expect(otherwise(it.training.submission.choice)).toEqual({ engine: 'cluster' });
  it.model.dispose();
});

test('an engine that gives out its devices itself lets nobody choose one', async () => {
  const it = await panel({ assigns_devices: true });
  it.training.choose({ engine: 'cluster' });
  await settle();
  expect(shown(it)).toHaveLength(2);
  const boxes = [...document.querySelectorAll<HTMLInputElement>('input[type=checkbox]')];
  expect(boxes.every(one => one.disabled)).toBe(true);
  expect(document.body.textContent).toContain('gives each job its devices itself');
  it.model.dispose();
});
