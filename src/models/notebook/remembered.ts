/** What is kept of a notebook over a reload: its last estimate, shown at once, and what was chosen for its jobs. */

import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { IEstimateRequest, IMatched } from '../../domain';
import type { IChoice } from '../submit/choice';
import { key, NAMESPACE } from './kept';

/** Notebooks that are kept, the last ones that were looked at. */
const KEPT = 12;
/** Points of a step that are kept: as many as the drawing has pixels. */
const KEPT_POINTS = 400;

export interface IRemembered {
  /** Digest of the code that the estimate is of. */
  code: string;
  /** In which the server's sentences are; none in what was kept before that was noted. */
  language?: string;
  request: IEstimateRequest;
  choice: Partial<IChoice>;
  /** null where nothing was estimated. */
  matched: IMatched | null;
  /** Milliseconds since the epoch. */
  time: number;
}

/** Keeps it where JupyterLab keeps its own state; without that nothing is kept. */
export class Remembered {
  constructor(private readonly _state: IStateDB | null) {}

  async get(path: string): Promise<IRemembered | null> {
    try {
      const kept = (await this._state?.fetch(key(path))) ?? null;
      return kept as unknown as IRemembered | null;
    } catch {
      return null;
    }
  }

  async put(path: string, remembered: IRemembered): Promise<void> {
    try {
      await this._state?.save(
        key(path),
        slim(remembered) as unknown as ReadonlyPartialJSONObject
      );
      await this._forgetOld();
    } catch {
      // It is a convenience: without it the notebook is estimated anew.
    }
  }

  async move(from: string, to: string): Promise<void> {
    const kept = await this.get(from);
    if (kept) {
      await this.put(to, kept);
      await this._state?.remove(key(from));
    }
  }

  private async _forgetOld(): Promise<void> {
    const { ids, values } = (await this._state?.list(NAMESPACE)) ?? { ids: [], values: [] };
    const times = ids.map((id, index) => ({
      id,
      time: (values[index] as { time?: number } | undefined)?.time ?? 0
    }));
    times.sort((a, b) => b.time - a.time);
    for (const { id } of times.slice(KEPT)) {
      await this._state?.remove(id);
    }
  }
}

/** Without what is large and comes again with the next estimate. */
function slim(remembered: IRemembered): IRemembered {
  const { matched } = remembered;
  if (!matched) {
    return remembered;
  }
  const { estimate, facts } = matched;
  const every = Math.ceil(estimate.timeline.length / KEPT_POINTS);
  return {
    ...remembered,
    matched: {
      ...matched,
      facts: { ...facts, cells: facts.cells.map(cell => ({ ...cell, source: ' ' })) },
      estimate: {
        ...estimate,
        layers: [],
        timeline: estimate.timeline.filter((_, index) => index % every === 0)
      }
    }
  };
}

/** A short mark of a text, alike for alike texts (cyrb53, public domain). */
export function digest(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
