/** The notebook as it is, beside what is asked for: figures to compare with, each for the code that it is of. */

import type { IEstimate, INotebookFacts } from '../../domain';

/** States of the code that are kept: what was written and taken back again is among the last ones. */
const KEPT = 8;

/** Estimates of which nothing else than the notebook has was asked, by the code that they are of. */
export class Owns {
  /** The one of this code; null where none was made. */
  of(code: string): IEstimate | null {
    return this._known.get(code) ?? null;
  }

  put(code: string, estimate: IEstimate): void {
    this._known.delete(code);
    this._known.set(code, estimate);
    for (const old of [...this._known.keys()].slice(0, -KEPT)) {
      this._known.delete(old);
    }
  }

  private readonly _known = new Map<string, IEstimate>();
}

/** The notebook's own batch size, by an estimate of it or by reading its only training; null where neither tells it. */
export function ownBatch(
  own: IEstimate | null,
  facts: INotebookFacts | null,
  shown: IEstimate | null
): number | null {
  const read = facts?.batch_size?.value;
  const isRead = typeof read === 'number' && (shown?.trainings.length ?? 0) < 2;
  return own?.batch_size ?? (isRead ? read : null);
}
