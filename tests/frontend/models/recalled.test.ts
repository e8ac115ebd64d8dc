/** What was kept of an estimate, taken by a page in the same and in another language. */

import { saidIn } from '../../../src/models/estimate/recalled';
import type { IRemembered } from '../../../src/models/notebook/remembered';

const estimate = { peak_bytes: 7, notes: [{ message: 'told' }], remedies: [{}] };
const kept = (language?: string) =>
  ({ language, matched: { estimate, placement: { fit: 'fits' } } }) as unknown as IRemembered;

test('in the same language all of it is there', () => {
  expect(saidIn('en', kept('en'))?.estimate).toBe(estimate);
  // What was kept before the language was noted is taken as it is.
  expect(saidIn('en', kept())?.estimate).toBe(estimate);
});

test('in another one the figures are there, and no sentence of the old one', () => {
  expect(saidIn('zh-CN', kept('en'))).toEqual({
    estimate: { peak_bytes: 7, notes: [], remedies: [] },
    placement: null
  });
  expect(saidIn('zh-CN', { ...kept('en'), matched: null })).toBeNull();
});
