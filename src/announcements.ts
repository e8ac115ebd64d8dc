/** Tells of jobs that ended, in one message for all that came to it, so that a queue of many does not bury the page. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { stateName } from './components/jobs/words';
import type { IJob, JobState } from './domain';

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

export class Announcements {
  /** `open` shows a job, or, without one, the list of them. */
  constructor(
    private readonly _board: IBoard,
    private readonly _trans: TranslationBundle,
    private readonly _open: (job?: IJob) => void
  ) {}

  /** Announce the end of a job, together with those that are still announced. */
  tell(job: IJob): void {
    const goesOn = this._board.has(this._id) && Date.now() < this._until;
    if (goesOn) {
      this._board.dismiss(this._id);
    }
    this._jobs = goesOn ? [...this._jobs, job] : [job];
    const failed = hasFailed(this._jobs);
    const autoClose = failed ? FAILURE_ANNOUNCED : ANNOUNCED;
    this._until = Date.now() + autoClose;
    const succeeded = this._jobs.every(({ state }) => state === 'succeeded');
    const one = this._jobs.length === 1 ? job : undefined;
    this._id = this._board.show(
      one ? this._end(one) : this._ends(),
      failed ? 'error' : succeeded ? 'success' : 'info',
      { autoClose, open: () => this._open(one) }
    );
  }

  private _end(job: IJob): string {
    const text = this._trans.__('%1: %2', job.spec.name, stateName(job.state, this._trans));
    return job.state === 'failed' && job.reason ? `${text}. ${job.reason.message}` : text;
  }

  private _ends(): string {
    const numbers = new Map<JobState, number>();
    for (const { state } of this._jobs) {
      numbers.set(state, (numbers.get(state) ?? 0) + 1);
    }
    const states = [...numbers].map(
      ([state, number]) => `${stateName(state, this._trans)} ${number}`
    );
    return this._trans.__('%1 jobs have ended: %2', this._jobs.length, states.join(' · '));
  }

  private _id = '';
  private _jobs: IJob[] = [];
  private _until = 0;
}

function hasFailed(jobs: readonly IJob[]): boolean {
  return jobs.some(({ state }) => state === 'failed');
}
