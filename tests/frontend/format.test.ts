import { readFileSync } from 'fs';
import { join } from 'path';

import {
  byteRange,
  bytes,
  count,
  duration,
  group,
  metric,
  moment,
  plain
} from '../../src/format';
import { trans } from './helpers';

/** The table that Python's tests read as well. */
const SIZES = JSON.parse(readFileSync(join(__dirname, '..', 'sizes.json'), 'utf8')) as [
  number,
  string
][];

test.each([...SIZES, [-(2 ** 20), '−1.00 MiB'], [null, '–'], [undefined, '–']] as [
  number | null | undefined,
  string
][])('bytes %p', (value, text) => {
  expect(bytes(value)).toBe(text);
});

test('a range of bytes has one unit', () => {
  expect(byteRange(335.4 * 2 ** 20, 762 * 2 ** 20)).toBe('335 – 762 MiB');
  expect(byteRange(900 * 2 ** 20, 1.5 * 2 ** 30)).toBe('0.88 – 1.50 GiB');
  expect(byteRange(211.9 * 2 ** 20, 212.1 * 2 ** 20)).toBe('212 MiB');
});

test.each([
  [64, '64'],
  [9_999, '9,999'],
  [544_906, '544.9 k'],
  [110_400_000, '110.4 M'],
  [7e9, '7 G']
])('count %p', (value, text) => {
  expect(count(value)).toBe(text);
});

test.each([
  [0, '0 s'],
  [0.41, '0.4 s'],
  [2, '2 s'],
  [38.2, '38 s'],
  [65, '1 min 5 s'],
  [599.7, '9 min 59 s'],
  [1800, '30 min'],
  [4320, '1 h 12 min'],
  [183_600, '2 d 3 h'],
  [-5, '0 s']
])('duration %p', (value, text) => {
  expect(duration(value, trans)).toBe(text);
});

test('numbers', () => {
  expect(group(1_204_311)).toBe('1,204,311');
  expect([1e6, 0.001, 'O1'].map(plain)).toEqual(['1,000,000', '0.001', 'O1']);
  expect(metric(0.18259)).toBe('0.18259');
  expect(metric(0.000012)).toBe('1.20e-5');
  expect(metric(0)).toBe('0');
  // A loss that diverged: JSON has no word for it.
  expect(metric(null)).toBe('nan');
});

test('times of day are by 24 hours, and another year is named', () => {
  const before = new Date(new Date().getFullYear() - 1, 10, 28, 0, 5).getTime() / 1000;
  expect(moment(before, 'en')).toMatch(/^Nov 28, \d{4}, 00:05$/);
  const today = new Date().setHours(15, 4) / 1000;
  expect(moment(today, 'en')).toBe('15:04');
  expect(moment(today, 'zh-CN')).toBe('15:04');
});
