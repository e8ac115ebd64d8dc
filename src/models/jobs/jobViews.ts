/** The jobs that the panel shows with their last lines: the one that comes first, and the one that was unfolded. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import type { IJob } from '../../domain';
import type { EventStream } from '../../events';
import type { Jobs } from './jobs';
import { JobView } from '../job/jobView';

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
    return this._running;
  }

  /** The job whose last lines are shown. */
  get expanded(): JobView | null {
    return this._expanded;
  }

  /** Id of the job that was submitted last from here; empty before the first. */
  get submitted(): string {
    return this._submitted;
  }

  /** A view of a job; whoever asks disposes it. */
  open(id: string): JobView {
    return new JobView(id, this._api, this._events, this._jobs);
  }

  /** Show or hide a job's last lines. */
  expand(id: string | null): void {
    if (this._expanded?.id !== id) {
      this._expanded?.dispose();
      this._expanded = id ? this.open(id) : null;
      this._changed.emit();
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
    if (this._running?.id !== first?.id) {
      this._running?.dispose();
      this._running = first && isLooking ? this.open(first.id) : null;
      this._changed.emit();
    }
  }

  dispose(): void {
    this._expanded?.dispose();
    this._running?.dispose();
    Signal.clearData(this);
  }

  private _running: JobView | null = null;
  private _expanded: JobView | null = null;
  private _submitted = '';
  private readonly _changed = new Signal<this, void>(this);
}

/** Whether a job is of a notebook; a job knows the file, a notebook its contents path. */
export function isOf({ spec }: IJob, path: string): boolean {
  return spec.notebook === path || spec.notebook.endsWith(`/${path}`);
}
