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
  /** The exit status with which a program of a cell has failed. */
  program?: number | null;
  /** What there is to say besides; empty where the state says it. */
  more: string;
}

export function endOfJob({ id, spec, state, reason, progress, result }: IJob): IEnd {
  const program = state === 'succeeded' ? result?.program_status : null;
  const why = state === 'failed' ? reason : program ? progress.warning : null;
  return { id, kind: 'job', name: spec.name, state, program, more: why?.message ?? '' };
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
    const failed = this._ends.some(({ state, program }) => state === 'failed' || program);
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

  private _one({ name, state, program, more }: IEnd): string {
    const text = this._trans.__('%1: %2', name, stateName(state, this._trans, program));
    return more ? `${text}. ${more}` : text;
  }

  private _several(): string {
    const numbers = new Map<string, number>();
    for (const { state, program } of this._ends) {
      const name = stateName(state, this._trans, program);
      numbers.set(name, (numbers.get(name) ?? 0) + 1);
    }
    const states = [...numbers].map(([name, number]) => `${name} ${number}`);
    return this._trans.__('%1 jobs have ended: %2', this._ends.length, states.join(' · '));
  }

  private _id = '';
  private _ends: IEnd[] = [];
  private _until = 0;
}
