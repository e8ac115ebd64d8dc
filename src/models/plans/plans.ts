/** Sweeps and schedules as the server has them, and what is done to one. */

import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api, ApiError, INotebookBody } from '../../api';
import type {
  IMessage,
  ISchedule,
  IScheduleBody,
  ISubmission,
  ISweep,
  ISweepBody,
  ISweepCheck,
  IVariable
} from '../../domain';
import type { Jobs } from '../jobs/jobs';

/** Milliseconds between two looks while somebody sees them: a terminal may have made one. */
const LOOK = 10_000;
/** Milliseconds after news of a job: several come at once. */
const SOON = 500;
/** Milliseconds in which a deletion is offered to be taken back. */
const UNDO = 10_000;

export class Plans implements IDisposable {
  constructor(
    private readonly _api: Api,
    private readonly _jobs: Jobs
  ) {
    _jobs.changed.connect(this._onJobs, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with a sweep whose last trial ended while we knew it. */
  get ended(): ISignal<this, ISweep> {
    return this._ended;
  }

  /** The newest first. */
  sweeps: readonly ISweep[] = [];
  schedules: readonly ISchedule[] = [];
  /** A schedule that was deleted a moment ago. */
  deleted: ISchedule | null = null;
  /** Why the last action failed. */
  error: ApiError | null = null;
  /** The sweep that is unfolded; empty: none. */
  shown = '';

  show(id: string): void {
    this.shown = this.shown === id ? '' : id;
    this._changed.emit();
  }

  /** Follow them while somebody looks. */
  look(): IDisposable {
    void this.refresh();
    const timer = window.setInterval(() => void this.refresh(), LOOK);
    return new DisposableDelegate(() => window.clearInterval(timer));
  }

  async refresh(): Promise<void> {
    try {
      const [{ sweeps }, { schedules }] = await Promise.all([
        this._api.ask<{ sweeps: ISweep[] }>('GET', 'sweeps'),
        this._api.ask<{ schedules: ISchedule[] }>('GET', 'schedules')
      ]);
      const went = this.sweeps.filter(({ state }) => state === 'running').map(({ id }) => id);
      this.sweeps = sweeps;
      this.schedules = schedules;
      this._changed.emit();
      sweeps
        .filter(({ id, state }) => state !== 'running' && went.includes(id))
        .forEach(sweep => this._ended.emit(sweep));
    } catch {
      // The page says already that the server does not answer.
    }
  }

  cancel(id: string): Promise<void> {
    return this._do(() => this._api.ask('POST', `sweeps/${id}/cancel`));
  }

  retry(id: string): Promise<void> {
    return this._do(() => this._api.ask('POST', `sweeps/${id}/retry`));
  }

  deleteSweep(id: string): Promise<void> {
    return this._do(() => this._api.ask('DELETE', `sweeps/${id}`));
  }

  /** Compare its trials by another metric, whose direction follows from its name unless one is given. */
  compareBy(id: string, wanted: { metric?: string; direction?: string }): Promise<void> {
    return this._do(() => this._api.ask('PATCH', `sweeps/${id}`, wanted));
  }

  tableUrl(id: string): string {
    return this._api.url(`sweeps/${id}/table`);
  }

  move(id: string, move: 'pause' | 'resume'): Promise<void> {
    return this._do(() => this._api.ask('POST', `schedules/${id}/${move}`));
  }

  async deleteSchedule(schedule: ISchedule): Promise<void> {
    await this._do(() => this._api.ask('DELETE', `schedules/${schedule.id}`));
    this.deleted = this.error ? null : schedule;
    this._changed.emit();
    window.clearTimeout(this._undo);
    this._undo = window.setTimeout(() => {
      this.deleted = null;
      this._changed.emit();
    }, UNDO);
  }

  async restore(): Promise<void> {
    const { deleted } = this;
    this.deleted = null;
    if (deleted) {
      await this._do(() => this._api.ask('POST', `schedules/${deleted.id}/restore`));
    }
  }

  dismiss(): void {
    this.error = null;
    this._changed.emit();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      window.clearTimeout(this._soon);
      window.clearTimeout(this._undo);
      this._jobs.changed.disconnect(this._onJobs, this);
      Signal.clearData(this);
    }
  }

  private async _do(act: () => Promise<unknown>): Promise<void> {
    this.error = null;
    try {
      await act();
    } catch (reason) {
      this.error = reason as ApiError;
    }
    await this.refresh();
    this._changed.emit();
  }

  /** A trial got on, or a schedule made a job. */
  private _onJobs(): void {
    const newest = this._jobs.list
      .filter(job => job.spec.plan)
      .reduce((time, job) => Math.max(time, job.updated), 0);
    if (newest > this._newest) {
      this._newest = newest;
      window.clearTimeout(this._soon);
      this._soon = window.setTimeout(() => void this.refresh(), SOON);
    }
  }

  private _newest = 0;
  private _soon = 0;
  private _undo = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _ended = new Signal<this, ISweep>(this);
}

/** What can be planned for a notebook, or for a job that was. */
export class Planner {
  constructor(private readonly _api: Api) {}

  /** The variables that a run may have otherwise. */
  async variables(notebook: INotebookBody): Promise<IVariable[]> {
    return (await this._api.ask<{ variables: IVariable[] }>('POST', 'variables', notebook))
      .variables;
  }

  check(body: ISweepBody): Promise<ISweepCheck> {
    return this._api.ask('POST', 'sweeps/checks', body);
  }

  begin(body: ISweepBody): Promise<ISweep> {
    return this._api.ask('POST', 'sweeps', body);
  }

  /** Why nobody can wait for a lower price here; null where that can be. */
  async noCost(): Promise<IMessage | null> {
    return (await this._api.ask<{ no_cost: IMessage | null }>('GET', 'schedules')).no_cost;
  }

  async dates(typed: IScheduleBody): Promise<number[]> {
    const { at = '', cron = '', zone = '' } = typed;
    return (
      await this._api.ask<{ dates: number[] }>('POST', 'schedules/dates', { at, cron, zone })
    ).dates;
  }

  schedule(
    notebook: INotebookBody,
    submission: ISubmission,
    when: IScheduleBody
  ): Promise<ISchedule> {
    return this._api.ask('POST', 'schedules', { ...notebook, ...submission, ...when });
  }
}
