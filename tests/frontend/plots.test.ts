import { bytes, stopwatch } from '../../src/format';
import { extent, framed, lastKnown, spread } from '../../src/plots/series';
import { BYTE_STEPS, CLOCK_STEPS, short } from '../../src/plots/steps';
import { trans } from './helpers';

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

test('nearly equal values above a told zero do not lie on the frame', () => {
  const [from, to] = framed([41.4, null, 41.5], 0);
  expect(from).toBe(0);
  expect(to).toBeCloseTo(41.5 * 1.06);
  expect(framed([1, 3])).toEqual([0.88, 3.12]);
  expect(framed([20], 0, 100)).toEqual([0, 100]);
  expect(framed([])).toEqual([-0.06, 1.06]);
});

test('the last value is the last that is known', () => {
  expect(lastKnown([1, 2, null])).toBe(2);
  expect(lastKnown([])).toBeNull();
});

test('ticks of bytes are powers of two, said without empty zeros', () => {
  expect(BYTE_STEPS.map(step => short(bytes(step)))).toEqual(
    expect.arrayContaining(['1 B', '32 MiB', '512 MiB', '1 GiB'])
  );
  expect(['0 B', '1.50 GiB', '100 %', '0:10', '2.5'].map(short)).toEqual([
    '0 B',
    '1.5 GiB',
    '100 %',
    '0:10',
    '2.5'
  ]);
});

test('ticks of time are those of a clock', () => {
  expect(CLOCK_STEPS.map(step => stopwatch(step, trans))).toEqual(
    expect.arrayContaining(['0.5 s', '15 s', '1:00', '15:00', '1:00:00'])
  );
  expect([...CLOCK_STEPS].sort((a, b) => a - b)).toEqual(CLOCK_STEPS);
});

test("a tick of seconds is said in the reader's language", () => {
  const chinese = { __: (text: string, value: string) => text.replace('%1 s', `${value} 秒`) };
  const said = (seconds: number) => stopwatch(seconds, chinese as unknown as typeof trans);
  expect([0.5, 15, 75].map(said)).toEqual(['0.5 秒', '15 秒', '1:15']);
});
