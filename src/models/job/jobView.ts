/** What is shown of one job: the job, its log, a search in it, its curves. */

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import {
  type IComparison,
  type IFigure,
  type IJob,
  type IJobMetrics,
  type IJobStatistics,
  isEnded
} from '../../domain';
import type { EventStream, ILogChunk } from '../../events';
import type { Jobs } from '../jobs/jobs';
import { JobLog } from './jobLog';
import type { LogStore } from './log';
import { Polled } from './polled';
import { lastRun } from '../jobs/runs';

export class JobView implements IDisposable {
  constructor(
    readonly id: string,
    private readonly _api: Api,
    readonly events: EventStream,
    readonly jobs: Jobs
  ) {
    this.statistics = new Polled(() => _api.statistics(id), this._isRunning);
    this.metrics = new Polled(() => _api.metrics(id), this._isRunning);
    this.log = this.logOf(0).lines;
    events.logReceived.connect(this._onLog, this);
    this._watches = [events.watch('jobs')];
    void this._open();
  }

  /** Of the first process, which is the job's. */
  readonly log: LogStore;
  /** The process of a distributed training whose log is shown, kept while its page is open. */
  rank = 0;
  readonly metrics: Polled<IJobMetrics>;
  readonly statistics: Polled<IJobStatistics>;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get job(): IJob | undefined {
    return this.jobs.get(this.id);
  }

  /** Emitted when another tab of its page is shown. */
  get turned(): ISignal<this, void> {
    return this._turned;
  }

  /** The tab of its page that is shown, kept over a reload; empty: the first one. */
  get tab(): string {
    return this._tab;
  }

  set tab(tab: string) {
    this._tab = tab;
    this._turned.emit();
  }

  /** Show the whole log of a process. */
  openLog(rank: number): void {
    this.rank = rank;
    this.tab = 'log';
  }

  /** What a process has written. */
  logOf(rank: number): JobLog {
    let log = this._logs.get(rank);
    if (!log) {
      log = new JobLog(
        (since, limit) => this._api.log(this.id, since, limit, rank),
        this._api.logFileUrl(this.id, rank),
        this._isRunning
      );
      this._logs.set(rank, log);
    }
    return log;
  }

  /** The job is not there: deleted, or never was. */
  get isGone(): boolean {
    return this._isGone;
  }

  /** Where the job can be downloaded: on one page, with all that it left, its metrics as a table. */
  exportUrl(what: Parameters<Api['exportUrl']>[1]): string {
    return this._api.exportUrl(this.id, what);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Keep what is drawn up to date until the answer is disposed. */
  look(): IDisposable {
    const looks = [this.statistics.look(), this.metrics.look()];
    return new DisposableDelegate(() => looks.forEach(look => look.dispose()));
  }

  /** The job that this one is held against, and its curves; null where there is none. */
  get last(): { job: IJob; metrics: IJobMetrics | null } | null {
    const job = this.job && lastRun(this.job, this.jobs.list);
    if (!job) {
      return null;
    }
    if (this._last?.id !== job.id) {
      this._last = { id: job.id, metrics: null };
      void this._api.metrics(job.id).then(
        metrics => {
          if (this._last?.id === job.id) {
            this._last.metrics = metrics;
            this._changed.emit();
          }
        },
        () => undefined // Without its curves this job's are drawn alone.
      );
    }
    return { job, metrics: this._last.metrics };
  }

  /** Pictures that the notebook has drawn so far. */
  get figures(): readonly IFigure[] {
    return this._figures;
  }

  /** The notebook as executed so far. */
  executed(): Promise<object> {
    return this._api.executed(this.id);
  }

  /** What this job has otherwise than another one, code included. */
  compare(other: string): Promise<IComparison> {
    return this._api.compare(other, this.id);
  }

  /** Look for pictures again, where cells have ended since. */
  async readFigures(): Promise<void> {
    const { job } = this;
    const seen = job ? `${job.state} ${job.progress.cells_done}` : '';
    if (!job?.started || seen === this._figuresSeen) {
      return;
    }
    this._figuresSeen = seen;
    try {
      this._figures = await this._api.figures(this.id);
      this._changed.emit();
    } catch {
      this._figuresSeen = '';
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.events.logReceived.disconnect(this._onLog, this);
    this._watches.forEach(watch => watch.dispose());
    this.statistics.dispose();
    this.metrics.dispose();
    this._logs.forEach(log => log.dispose());
    Signal.clearData(this);
  }

  private async _open(): Promise<void> {
    if (!this.job) {
      try {
        this.jobs.put(await this._api.job(this.id));
      } catch (reason) {
        this._isGone = (reason as { status?: number }).status === 404;
      }
    }
    await this.log.open();
    if (!this._isDisposed && !this._isGone) {
      this._watches.push(this.events.watchLog(this.id, () => this.log.total));
    }
    this._changed.emit();
  }

  private _onLog(_: EventStream, chunk: ILogChunk): void {
    if (chunk.id === this.id && this.log.isOpen) {
      this.log.receive(chunk.lines, chunk.next, chunk.ended);
    }
  }

  private readonly _isRunning = (): boolean => !!this.job && !isEnded(this.job.state);

  private readonly _logs = new Map<number, JobLog>();
  private readonly _watches: IDisposable[];
  private _isGone = false;
  private _figures: IFigure[] = [];
  private _figuresSeen = '';
  private _last: { id: string; metrics: IJobMetrics | null } | null = null;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _turned = new Signal<this, void>(this);
  private _tab = '';
}
