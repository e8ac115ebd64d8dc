/** Memory over batch size: a line through what was traced, and where it meets a card. */

import type { IEstimate } from '../../../src/domain';
import { at, axis, Batches, reaches } from '../../../src/models/estimate/batches';

function estimate(batch: number, peak: number, more: object = {}): IEstimate {
  return {
    batch_size: batch,
    peak_bytes: peak,
    allocated_peak_bytes: peak,
    low: peak,
    high: peak,
    breakdown: { parameters: 100, gradients: 0, optimizer_state: 0, context: 0 },
    fits: [],
    curve: [],
    ...more
  } as unknown as IEstimate;
}

test("the points are those that were traced, the server's further out among them", () => {
  const curve = [{ batch: 40, low: 650, bytes: 700, high: 750 }];
  const batches = new Batches();
  batches.add(estimate(10, 300, { curve }), 'code');
  expect(batches.points.map(({ batch, high }) => [batch, high])).toEqual([
    [10, 300],
    [40, 750]
  ]);
  expect(at(batches.points, 25)?.bytes).toBe(500);
});

test('no batch is said to fit that lies beyond what was traced', () => {
  const batches = new Batches();
  batches.add(estimate(16, 1000), 'code');
  expect(reaches(batches.points, 1500)).toBeNull();
  // Data that is held in tensors does not grow with the batch.
  batches.add(estimate(64, 1048), 'code');
  expect(reaches(batches.points, 1024)).toBe(40);
  expect(reaches(batches.points, 1500)).toBeNull();
});

test('two sizes that were traced are the line, and a third lies on it', () => {
  const batches = new Batches();
  batches.add(estimate(10, 300), 'code');
  batches.add(estimate(40, 1200), 'code');
  expect(at(batches.points, 20)?.bytes).toBe(600);
  expect(reaches(batches.points, 900)).toBe(30);
});

test('other code begins anew', () => {
  const batches = new Batches();
  batches.add(estimate(10, 300), 'code');
  batches.add(estimate(40, 1200), 'code');
  batches.add(estimate(10, 700), 'other');
  expect(batches.points.map(({ batch }) => batch)).toEqual([10]);
});

test('the axis ends behind the smallest card that holds more, in round steps', () => {
  const card = (batch: number) => ({ name: '', bytes: 1, batch });
  expect(axis(64, [card(400)])).toEqual({ end: 464, step: 8 });
  expect(axis(64, [card(1_000_000)]).end).toBe(1024);
  expect(axis(64, [card(10)]).end).toBe(256);
  expect(axis(1, []).step).toBe(1);
});
