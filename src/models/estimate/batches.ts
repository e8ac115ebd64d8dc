/** Memory over batch size: what was traced, and straight lines between. */

import type { IEstimate, IEstimateRequest } from '../../domain';
import { asked } from './request';

/** The bytes of a step at a batch size: the least, the likely, the most that the driver may show. */
export interface IBatchPoint {
  batch: number;
  low: number;
  bytes: number;
  high: number;
}

/** A card as a limit of the curve. */
export interface ICardLimit {
  name: string;
  /** What may be used of it. */
  bytes: number;
  /** The largest batch that fits it. */
  batch: number;
  /** It was found by tracing; else it lies between two sizes that were. */
  isExact?: boolean;
}

/** Share of a card's memory that an estimate may reach, as the server takes it by default. */
export const USABLE = 0.85;
/** How far beyond the notebook's own batch the axis goes at least, and at most where no card ends it. */
const LEAST_ROOM = 4;
const MOST_ROOM = 16;
/** Places of the handle along the axis, about. */
const PLACES = 64;

/** What estimates have in common that are points of one line: all but the batch size. */
export function lineOf(code: string, request: IEstimateRequest, estimate: IEstimate): string {
  const { batch_size: _, ...rest } = asked(request);
  const { training, target, device } = estimate;
  return JSON.stringify([code, rest, training, target, device]);
}

/** What an estimate says of its own batch size; null where it has no figure or no batch. */
export function pointOf(estimate: IEstimate): IBatchPoint | null {
  const { batch_size, allocated_peak_bytes } = estimate;
  const bytes = estimate.peak_bytes ?? allocated_peak_bytes;
  return batch_size && bytes !== null
    ? {
        batch: batch_size,
        low: estimate.low ?? bytes,
        bytes,
        high: estimate.high ?? bytes
      }
    : null;
}

/** The point at a batch size, by the two that are nearest to it; points rise by their batch. */
export function at(points: readonly IBatchPoint[], batch: number): IBatchPoint | null {
  if (points.length < 2) {
    return null;
  }
  let right = points.findIndex(point => point.batch >= batch);
  right = Math.max(1, right < 0 ? points.length - 1 : right);
  const [a, b] = [points[right - 1], points[right]];
  const share = (batch - a.batch) / (b.batch - a.batch);
  const between = (from: number, to: number) => Math.max(0, from + share * (to - from));
  return {
    batch,
    low: between(a.low, b.low),
    bytes: between(a.bytes, b.bytes),
    high: between(a.high, b.high)
  };
}

/** The batch at which the upper bound reaches a size; null where that lies beyond what was traced. */
export function reaches(points: readonly IBatchPoint[], bytes: number): number | null {
  const right = points.findIndex(point => point.high >= bytes);
  if (points.length < 2 || right < 0) {
    return null;
  }
  const [a, b] = right ? [points[right - 1], points[right]] : points;
  const slope = (b.high - a.high) / (b.batch - a.batch);
  return slope > 0 ? Math.floor(a.batch + (bytes - a.high) / slope) : null;
}

/** How far the axis goes, and the step of the handle: round numbers. */
export function axis(
  own: number,
  limits: readonly ICardLimit[]
): { end: number; step: number } {
  const ends = limits.map(({ batch }) => batch * 1.15).filter(end => end > own);
  const wanted = ends.length ? Math.min(...ends) : LEAST_ROOM * own;
  const room = Math.max(LEAST_ROOM * own, Math.min(MOST_ROOM * own, wanted));
  const step = 2 ** Math.max(0, Math.round(Math.log2(room / PLACES)));
  return { end: Math.ceil(room / step) * step, step };
}

/** All points that are known of one training, by its batch sizes. */
export class Batches {
  /** Rise by their batch. */
  points: readonly IBatchPoint[] = [];

  /** Take an estimate in; one of another training, or of other code, begins anew. */
  add(estimate: IEstimate, of: string): void {
    const point = pointOf(estimate);
    const known = new Map((of === this._of ? this.points : []).map(one => [one.batch, one]));
    this._of = of;
    for (const one of point ? [...estimate.curve, point] : []) {
      known.set(one.batch, one);
    }
    this.points = [...known.values()].sort((a, b) => a.batch - b.batch);
  }

  private _of = '';
}
