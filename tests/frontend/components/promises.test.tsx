/** What the panel promises: a chip that a job goes through, and the card that would hold more. */

import * as React from 'react';

import { knownCards, machine } from '../../../src/components/estimate/batchCurve';
import { Fit } from '../../../src/components/head/head';
import type { IInventory } from '../../../src/domain';
import type { PanelModel } from '../../../src/models/panel';
import type { Training } from '../../../src/models/estimate/training';
import { draw } from '../drawing';
import { trans } from '../helpers';

function chip(engine: object, requirements: string[] = [], more: object = {}): string {
  const training = {
    estimate: {
      status: 'ok',
      notes: [{ code: 'whole_graph' }],
      packages: [{ module: 'timm', install: 'timm', is_needed: false }]
    },
    request: {},
    facts: { requirements },
    ...more,
    submission: { decision: { outcome: 'cpu', device_ids: [], reason: { message: 'why' } } }
  } as unknown as Training;
  const model = {
    training,
    jobs: { list: [] },
    engineOf: () => engine,
    devicesOf: () => null
  } as unknown as PanelModel;
  const box = draw(<Fit model={model} training={training} />);
  return box.textContent ?? '';
}

const HERE = { containers: false, own_devices: false };

describe('the chip over a module that the kernel lacks', () => {
  it('says that a job here would stop', () => {
    expect(chip(HERE)).toContain('would stop');
  });

  it('leaves it to an image, to another host, and to the notebook that installs it', () => {
    expect(chip({ ...HERE, containers: true })).toContain('runs on the CPU');
    expect(chip({ ...HERE, own_devices: true })).toContain('runs on the CPU');
    expect(chip(HERE, ['timm==1.0'])).toContain('runs on the CPU');
  });
});

test('the chip says when its figure rests on answers or on what was assumed', () => {
  const image = { ...HERE, containers: true };
  const assumed = { status: 'ok', packages: [], notes: [{ code: 'types_assumed' }] };
  const answers = { request: { answers: { vocab_size: 30000 } } };
  expect(chip(image)).toMatch(/the CPU$/);
  expect(chip(image, [], { estimate: assumed })).toMatch(/the CPU as assumed$/);
  expect(chip(image, [], answers)).toMatch(/the CPU with your answers$/);
});

test('a card that nobody checked is no limit of the curve', () => {
  const card = (name: string, memory_bytes: number, checked: boolean) => ({
    name,
    memory_bytes,
    checked
  });
  const accelerators = [card('checked', 80, true), card('unchecked', 80, false)];
  const points = [1, 100].map(size => ({ batch: size, low: size, bytes: size, high: size }));
  const drawn = knownCards(accelerators, points, [], { end: 200, most: 200 });
  expect(drawn.map(({ name }) => name)).toEqual(['checked']);
});

test("a curve of the CPU ends at this machine's memory", () => {
  const inventory = { host: { memory_total: 80 } } as unknown as IInventory;
  expect(machine(inventory, trans)).toEqual([
    { name: 'This machine', memory_bytes: 80, checked: true }
  ]);
  expect(machine(null, trans)).toEqual([]);
});
