/**
 * When a match is made anew that nobody asked for: the devices have moved since it was made, or it tells until about
 * when somebody has to wait.
 */

import type { IDevice } from '../../domain';
import type { Training } from './training';

/** Milliseconds between two matches that nobody asked for. */
const REMATCH_TIME = 20_000;
/** Bytes by which a device's free memory must have moved before its verdict is made anew. */
const REMATCH_BYTES = 512 * 2 ** 20;

export class Rematch {
  /** Whether the match that is shown no longer tells of these devices. */
  isDue({ placement, placed }: Training, devices: readonly IDevice[]): boolean {
    if (!placement) {
      return false;
    }
    if (this._matched?.placed !== placed) {
      this._matched = { placed, devices };
      return false;
    }
    const tellsTimes =
      placement.decision?.outcome === 'wait' ||
      placement.verdicts.some(({ reason }) => reason.code.startsWith('waits_'));
    return (
      Date.now() - placed > REMATCH_TIME &&
      (tellsTimes || isMoved(this._matched.devices, devices))
    );
  }

  /** The devices as they were when the match that is shown was made. */
  private _matched: { placed: number; devices: readonly IDevice[] } | null = null;
}

/** Whether a device has much more or less room than it had. */
function isMoved(before: readonly IDevice[], now: readonly IDevice[]): boolean {
  return now.some(device => {
    const free = before.find(({ id }) => id === device.id)?.memory_free ?? null;
    return (
      free !== null &&
      device.memory_free !== null &&
      Math.abs(free - device.memory_free) > REMATCH_BYTES
    );
  });
}
