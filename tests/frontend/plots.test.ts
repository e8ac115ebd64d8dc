import { extent, lastKnown, spread } from '../../src/plots/series';

test('rows of a table are spread from first to last', () => {
  expect(spread(3)).toEqual([0, 1, 2]);
  expect(spread(1)).toEqual([0]);
  expect(spread(0)).toEqual([]);
  const rows = spread(1_000_000, 5);
  expect(rows).toEqual([0, 250_000, 500_000, 749_999, 999_999]);
});

test('the extent of values leaves out what is not known', () => {
  expect(extent([null, 3, -1, null])).toEqual([-1, 3]);
  expect(extent([null])).toBeNull();
});

test('the last value is the last that is known', () => {
  expect(lastKnown([1, 2, null])).toBe(2);
  expect(lastKnown([])).toBeNull();
});
