/** When what a device's row tells is asked anew. */

import type { Training } from '../../../src/models/estimate/training';
import { Rematch } from '../../../src/models/estimate/rematch';
import { job } from '../helpers';

function matched(code: string): Training {
  const verdicts = [{ reason: { code, message: '', hint: '' } }];
  const placement = { decision: { outcome: 'run' }, verdicts };
  return { placement, placed: 1 } as unknown as Training;
}

describe('Rematch', () => {
  it('is due while a row tells how long a job still has its device', () => {
    const rematch = new Rematch();
    expect(rematch.isDue(matched('waits_device'), [], [])).toBe(false);
    expect(rematch.isDue(matched('waits_device'), [], [])).toBe(true);
  });

  it('is not due where nothing moves and nobody waits', () => {
    const rematch = new Rematch();
    expect(rematch.isDue(matched('fits'), [], [])).toBe(false);
    expect(rematch.isDue(matched('fits'), [], [])).toBe(false);
  });

  it('is due when an own job has taken a device, and when it has left it', () => {
    const running = [job('a', { state: 'running', device_ids: ['GPU-0'] })];
    const ended = [job('a', { state: 'succeeded', device_ids: ['GPU-0'] })];
    const taken = new Rematch();
    expect(taken.isDue(matched('fits'), [], [])).toBe(false);
    expect(taken.isDue(matched('fits'), [], running)).toBe(true);
    const left = new Rematch();
    expect(left.isDue(matched('fits'), [], running)).toBe(false);
    expect(left.isDue(matched('fits'), [], running)).toBe(false);
    expect(left.isDue(matched('fits'), [], ended)).toBe(true);
  });
});
