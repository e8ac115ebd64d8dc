/** Which advice stands there by itself: what is worth its words. */

import * as React from 'react';

import { Advice } from '../../../src/components/estimate/advice';
import type { IEstimate } from '../../../src/domain';
import type { Training } from '../../../src/models/estimate/training';
import { draw } from '../drawing';

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/** What is said of a training of so many bytes where half of its batch saves so many of them. */
function said(
  peak: number,
  saves: number,
  outcome = 'run',
  late = false,
  decided: object[] = []
): string {
  const remedy = {
    says: { message: 'Batch 25' },
    ...{ saves_bytes: saves, peak_bytes: peak - saves, refused: null, request: {} }
  };
  const notes = late ? [{ code: 'details_late', message: 'After 30 s not every remedy' }] : [];
  const estimate = { status: 'ok', peak_bytes: peak, remedies: [remedy], notes };
  const training = {
    request: {},
    placement: { decision: { outcome, final: false, notes: decided }, verdicts: [] },
    submission: { decision: null },
    ...{ models: { chosen: '' }, whatIfs: [], facts: null }
  };
  return (
    draw(
      <Advice
        estimate={estimate as unknown as IEstimate}
        training={training as unknown as Training}
      />
    ).textContent ?? ''
  );
}

test('an advice saves a tenth of it, and as much as a driver gives away at least', () => {
  expect(said(100 * MIB, 15 * MIB)).toContain('Batch 25');
  expect(said(100 * MIB, 9 * MIB)).not.toContain('Batch 25');
  expect(said(124 * KIB, 19 * KIB)).toBe('Nothing saves 10 % of it.more, what if…');
});

test('where a training fits nothing, each of them counts', () => {
  expect(said(100 * MIB, 5 * MIB, 'refuse')).toContain('Batch 25');
});

test('where another training is what fits nothing, none of this one would help', () => {
  const decided = [{ code: 'decided_by_most' }];
  expect(said(100 * MIB, 5 * MIB, 'refuse', false, decided)).not.toContain('Batch 25');
  expect(said(100 * MIB, 15 * MIB, 'refuse', false, decided)).not.toContain('What would help');
});

test('where time ran out it is told with a way to go on, unless everything fits', () => {
  expect(said(100 * MIB, 15 * MIB, 'refuse', true)).toMatch(/After 30 s .*Seek on/);
  expect(said(100 * MIB, 15 * MIB, 'run', true)).not.toContain('After 30 s');
});
