/** The jobs that the panel shows with their last lines: the one that comes first, and the one that was unfolded. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import type { IJob } from '../../domain';
import type { EventStream } from '../../events';
import type { Jobs } from './jobs';
import type { JobView } from '../job/jobView';

type Place = 'running' | 'expanded';

export class JobViews {
  constructor(
    private readonly _api: Api,
    private readonly _events: EventStream,
    private readonly _jobs: Jobs
  ) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The job that comes first: under way, of this notebook rather than of another; null where none is. */
  get running(): JobView | null {
    return this._shown.running;
  }

  /** The job whose last lines are shown. */
  get expanded(): JobView | null {
    return this._shown.expanded;
  }

  /** Id of the job that was submitted last from here; empty before the first. */
  get submitted(): string {
    return this._submitted;
  }

  /** A view of a job, which is read when the first one is asked for; whoever asks disposes it. */
  async open(id: string): Promise<JobView> {
    const { JobView } = await import('../job/jobView');
    return new JobView(id, this._api, this._events, this._jobs);
  }

  /** Show or hide a job's last lines. */
  expand(id: string | null): void {
    if (this._wanted.expanded !== id) {
      void this._put('expanded', id);
    }
  }

  /** Show the last lines of a job that was submitted here. */
  show(id: string): void {
    this._submitted = id;
    this.expand(id);
  }

  /** Keep a view of the job that comes first, so that its last lines and its curves are there while somebody looks. */
  follow(path: string | undefined, isLooking: boolean): void {
    const active = this._jobs.list.filter(
      ({ state }) => state === 'running' || state === 'preparing' || state === 'stopping'
    );
    const first = active.find(job => path && isOf(job, path)) ?? active[0];
    const id = first && (isLooking || this._wanted.running === first.id) ? first.id : null;
    if (this._wanted.running !== id) {
      void this._put('running', id);
    }
  }

  dispose(): void {
    this._wanted = { running: null, expanded: null };
    this._shown.expanded?.dispose();
    this._shown.running?.dispose();
    Signal.clearData(this);
  }

  /** Show another job in a place, or none. */
  private async _put(place: Place, id: string | null): Promise<void> {
    this._wanted[place] = id;
    this._shown[place]?.dispose();
    this._shown[place] = null;
    this._changed.emit();
    if (!id) {
      return;
    }
    const view = await this.open(id).catch(() => null);
    if (view && this._wanted[place] === id) {
      this._shown[place] = view;
      this._changed.emit();
      return;
    }
    // Another one is wanted by now, or the server did not answer: then it is asked for again.
    view?.dispose();
    if (this._wanted[place] === id) {
      this._wanted[place] = null;
    }
  }

  private _wanted: Record<Place, string | null> = { running: null, expanded: null };
  private readonly _shown: Record<Place, JobView | null> = { running: null, expanded: null };
  private _submitted = '';
  private readonly _changed = new Signal<this, void>(this);
}

/** Whether a job is of a notebook; a job knows the file, a notebook its contents path. */
export function isOf({ spec }: IJob, path: string): boolean {
  return spec.notebook === path || spec.notebook.endsWith(`/${path}`);
}
