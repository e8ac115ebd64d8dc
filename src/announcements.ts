/** Tells of what ended, in one message for all that came to it, so that a queue of many does not bury the page. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { stateName } from './components/jobs/words';
import { sweepProgress } from './components/plans/words';
import type { IJob, ISweep, JobState } from './domain';

/** Milliseconds for which the end of a job is announced; the row says it for good. */
const ANNOUNCED = 10_000;
/** The same for a failure, which takes longer to read. */
const FAILURE_ANNOUNCED = 30_000;

/** Where messages are shown: the part of JupyterLab's notifications that is used. */
export interface IBoard {
  show(text: string, type: 'error' | 'success' | 'info', options: IShown): string;
  has(id: string): boolean;
  dismiss(id: string): void;
}

export interface IShown {
  autoClose: number;
  open: () => void;
}

/** What has ended: a job, or the last trial of a sweep. */
export interface IEnd {
  id: string;
  kind: 'job' | 'sweep';
  name: string;
  state: JobState;
  /** What there is to say besides; empty where the state says it. */
  more: string;
}

export function endOfJob({ id, spec, state, reason }: IJob): IEnd {
  const more = state === 'failed' ? (reason?.message ?? '') : '';
  return { id, kind: 'job', name: spec.name, state, more };
}

export function endOfSweep(sweep: ISweep, trans: TranslationBundle): IEnd {
  const { id, name, state } = sweep;
  return { id, kind: 'sweep', name, state, more: sweepProgress(sweep, trans) };
}

export class Announcements {
  /** `open` shows what ended, or, without it, the list of jobs. */
  constructor(
    private readonly _board: IBoard,
    private readonly _trans: TranslationBundle,
    private readonly _open: (end?: IEnd) => void
  ) {}

  /** Announce an end, together with those that are still announced. */
  tell(end: IEnd): void {
    const goesOn = this._board.has(this._id) && Date.now() < this._until;
    if (goesOn) {
      this._board.dismiss(this._id);
    }
    this._ends = goesOn ? [...this._ends, end] : [end];
    const failed = this._ends.some(({ state }) => state === 'failed');
    const autoClose = failed ? FAILURE_ANNOUNCED : ANNOUNCED;
    this._until = Date.now() + autoClose;
    const succeeded = this._ends.every(({ state }) => state === 'succeeded');
    const one = this._ends.length === 1 ? end : undefined;
    this._id = this._board.show(
      one ? this._one(one) : this._several(),
      failed ? 'error' : succeeded ? 'success' : 'info',
      { autoClose, open: () => this._open(one) }
    );
  }

  private _one({ name, state, more }: IEnd): string {
    const text = this._trans.__('%1: %2', name, stateName(state, this._trans));
    return more ? `${text}. ${more}` : text;
  }

  private _several(): string {
    const numbers = new Map<JobState, number>();
    for (const { state } of this._ends) {
      numbers.set(state, (numbers.get(state) ?? 0) + 1);
    }
    const states = [...numbers].map(
      ([state, number]) => `${stateName(state, this._trans)} ${number}`
    );
    return this._trans.__('%1 jobs have ended: %2', this._ends.length, states.join(' · '));
  }

  private _id = '';
  private _ends: IEnd[] = [];
  private _until = 0;
}
