/** Memory over batch size: a line through what was traced, and where it meets a card. */

import type { IEstimate } from '../../../src/domain';
import { at, axis, Batches, furtherPoint, reaches } from '../../../src/models/estimate/batches';

function estimate(batch: number, peak: number, more: object = {}): IEstimate {
  return {
    batch_size: batch,
    peak_bytes: peak,
    allocated_peak_bytes: peak,
    low: peak,
    high: peak,
    breakdown: { parameters: 100, gradients: 0, optimizer_state: 0, context: 0 },
    fits: [],
    ...more
  } as unknown as IEstimate;
}

test('without a search the line rises by what depends on the batch', () => {
  expect(furtherPoint(estimate(10, 300))).toEqual({
    batch: 20,
    low: 500,
    bytes: 500,
    high: 500
  });
});

test('where the search for the largest batch ended, the upper bound goes through its end', () => {
  const fits = [{ device: 'T4', limit_bytes: 2100, largest_batch: 100, high_bytes: null }];
  expect(furtherPoint(estimate(10, 300, { fits }))?.high).toBe(2100);
});

test('two sizes that were traced are the line, and a third lies on it', () => {
  const batches = new Batches();
  batches.add(estimate(10, 300), 'code');
  batches.add(estimate(40, 1200), 'code');
  expect(at(batches.points, 20)?.bytes).toBe(600);
  expect(reaches(batches.points, 900)).toBe(30);
  expect(reaches(batches.points, 1500)).toBe(50);
});

test('other code begins anew', () => {
  const batches = new Batches();
  batches.add(estimate(10, 300), 'code');
  batches.add(estimate(40, 1200), 'code');
  batches.add(estimate(10, 700), 'other');
  expect(at(batches.points, 10)?.bytes).toBe(700);
  expect(batches.points.map(({ batch }) => batch)).toEqual([10, 20]);
});

test('the axis ends behind the smallest card that holds more, in round steps', () => {
  const card = (batch: number) => ({ name: '', bytes: 1, batch });
  expect(axis(64, [card(400)])).toEqual({ end: 464, step: 8 });
  expect(axis(64, [card(1_000_000)]).end).toBe(1024);
  expect(axis(64, [card(10)]).end).toBe(256);
  expect(axis(1, []).step).toBe(1);
});
