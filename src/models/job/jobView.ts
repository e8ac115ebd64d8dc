/** What is shown of one job: the job, its log, a search in it, its curves. */

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import {
  type IComparison,
  type IFigure,
  type IJob,
  type IJobMetrics,
  type ILogLine,
  type IJobStatistics,
  isEnded
} from '../../domain';
import type { EventStream, ILogChunk } from '../../events';
import type { Jobs } from '../jobs/jobs';
import { LogStore } from './log';
import { Polled } from './polled';
import { lastRun } from '../jobs/runs';
import { LogSearch } from './search';

/** Lines at the end of a log that are read at once: what one copies, and where an error is looked for. */
const END_LINES = 10_000;

export class JobView implements IDisposable {
  constructor(
    readonly id: string,
    private readonly _api: Api,
    readonly events: EventStream,
    readonly jobs: Jobs
  ) {
    const fetch = (since: number, limit: number) => _api.log(id, since, limit);
    this.log = new LogStore(fetch);
    this.search = new LogSearch(fetch);
    const isRunning = () => !!this.job && !isEnded(this.job.state);
    this.statistics = new Polled(() => _api.statistics(id), isRunning);
    this.metrics = new Polled(() => _api.metrics(id), isRunning);
    events.logReceived.connect(this._onLog, this);
    this._watches = [events.watch('jobs')];
    void this._open();
  }

  readonly log: LogStore;
  readonly search: LogSearch;
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

  /** The job is not there: deleted, or never was. */
  get isGone(): boolean {
    return this._isGone;
  }

  /** Where the job can be downloaded: on one page, with all that it left, its metrics as a table. */
  exportUrl(what: Parameters<Api['exportUrl']>[1]): string {
    return this._api.exportUrl(this.id, what);
  }

  get logFileUrl(): string {
    return this._api.logFileUrl(this.id);
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

  /** The last lines of a process of a distributed training. */
  async rankLines(rank: number, count: number): Promise<readonly ILogLine[]> {
    return (await this._api.log(this.id, -count, count, rank)).lines;
  }

  /** The end of the log as text. */
  async logText(): Promise<string> {
    const { lines } = await this._api.log(this.id, -END_LINES, END_LINES);
    // Of a line that was drawn in place its last state.
    const last = lines.filter((line, index) => !(line.p || lines[index + 1]?.r));
    return `${last.map(line => line.x).join('\n')}\n`;
  }

  /** Number of the line where the traceback begins that ended the job; null where none is near the end. */
  async errorLine(): Promise<number | null> {
    const { lines } = await this._api.log(this.id, -END_LINES, END_LINES);
    for (let index = lines.length - 1; index >= 0; index--) {
      if (lines[index].s === 'stderr' && lines[index].x.includes('Traceback (most recent')) {
        return lines[index].n;
      }
    }
    return lines.find(line => line.at)?.n ?? null;
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
    Signal.clearData(this.log);
    Signal.clearData(this.search);
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
