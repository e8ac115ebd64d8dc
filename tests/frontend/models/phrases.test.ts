import type { ILogLine } from '../../../src/domain';
import { said } from '../../../src/models/job/phrases';
import { trans } from '../helpers';

const LINE = {
  n: 0,
  t: 0,
  s: 'system',
  x: 'All cells ran in 2.7 s.',
  m: { text: 'All cells ran in {seconds} s.', params: { seconds: 2.7 } }
} as ILogLine;

test('a sentence of ours in a log is read in the language of the page', () => {
  const chinese = {
    ...trans,
    gettext: (text: string) => (text === LINE.m?.text ? '用时 {seconds} 秒，{unknown}' : text)
  } as typeof trans;
  expect(said(LINE, chinese)).toBe('用时 2.7 秒，{unknown}');
  // What has no translation, and what a training printed, stays as it was written.
  expect(said({ ...LINE, m: { text: 'Other', params: {} } }, chinese)).toBe(LINE.x);
  expect(said({ ...LINE, m: undefined, s: 'stdout' }, chinese)).toBe(LINE.x);
});
