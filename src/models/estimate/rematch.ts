/**
 * When a match is made anew that nobody asked for: the devices have moved since it was made, own jobs have taken or left
 * some, or it tells until about when somebody has to wait.
 */

import { type IDevice, type IJob, isEnded } from '../../domain';
import type { Training } from './training';

/** Milliseconds between two matches that nobody asked for. */
const REMATCH_TIME = 20_000;
/** The same after a job has taken or left a device: who submits once more reads where that would run. */
const HELD_TIME = 1_000;
/** Bytes by which a device's free memory must have moved before its verdict is made anew. */
const REMATCH_BYTES = 512 * 2 ** 20;

export class Rematch {
  /** Whether the match that is shown no longer tells of these devices. */
  isDue(
    { placement, placed }: Training,
    devices: readonly IDevice[],
    jobs: readonly IJob[]
  ): boolean {
    const held = heldBy(jobs);
    if (held !== this._held) {
      this._moved = this._held === null ? 0 : Date.now();
      this._held = held;
    }
    if (!placement) {
      return false;
    }
    if (this._matched?.placed !== placed) {
      this._matched = { placed, devices };
      return false;
    }
    const since = Date.now() - placed;
    const tellsTimes =
      placement.decision?.outcome === 'wait' ||
      placement.verdicts.some(({ reason }) => reason.code.startsWith('waits_'));
    return (
      (since > HELD_TIME && this._moved > placed) ||
      (since > REMATCH_TIME && (tellsTimes || isMoved(this._matched.devices, devices)))
    );
  }

  /** The devices as they were when the match that is shown came. */
  private _matched: { placed: number; devices: readonly IDevice[] } | null = null;
  /** What own jobs hold, and when that was another: an answer that took long was made before it came. */
  private _held: string | null = null;
  private _moved = 0;
}

/** The devices that own jobs have, each as often as jobs are on it. */
function heldBy(jobs: readonly IJob[]): string {
  return jobs
    .flatMap(({ state, device_ids }) => (isEnded(state) ? [] : device_ids))
    .sort()
    .join();
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
