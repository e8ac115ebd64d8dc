/** Where a notebook would stop, and the ways to the cells that say why. */

import * as React from 'react';

import { Stop } from '../../../src/components/estimate/stop';
import type { IEstimate } from '../../../src/domain';
import type { Training } from '../../../src/models/estimate/training';
import { draw, press } from '../drawing';

function stopped(raised: { cell: number; line: number } | null): number[] {
  const seen: number[] = [];
  const message = {
    code: 'would_stop',
    message: 'It would stop.',
    hint: 'Give it one output more.'
  };
  const stop = { cell: 2, line: 2, raised, error: 'ValueError: channels', device: '', message };
  const estimate = { status: 'would_stop', stop } as unknown as IEstimate;
  const training = { source: { reveal: (cell: number) => seen.push(cell) } };
  draw(<Stop estimate={estimate} training={training as unknown as Training} />);
  return seen;
}

describe('Stop', () => {
  it('says what the server says of it, next step included', () => {
    stopped(null);
    expect(document.body.textContent).toContain('It would stop.');
    expect(document.body.textContent).toContain('Give it one output more.');
  });

  it('leads to the cell that stops, and to the one that raises it', () => {
    const seen = stopped({ cell: 1, line: 6 });
    press('Go to cell 2');
    press('Go to cell 3');
    expect(seen).toEqual([1, 2]);
  });

  it('leads to one cell where that raises it itself', () => {
    const seen = stopped(null);
    press('Go to cell 2');
    press('Go to cell 3');
    expect(seen).toEqual([2]);
  });

  it('offers the CPU where the line names a device that is not here', () => {
    const asked: object[] = [];
    const stop = { cell: 0, line: 2, raised: null, error: 'ValueError: gpu', device: 'gpu' };
    const training = { ask: (change: object) => asked.push(change) } as unknown as Training;
    draw(
      <Stop estimate={{ status: 'ok', stop } as unknown as IEstimate} training={training} />
    );
    press('Take the CPU there');
    expect(asked).toEqual([{ on_cpu: true }]);
  });
});
