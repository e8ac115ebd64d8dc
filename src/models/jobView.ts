/** What is shown of one job: the job, its log, a search in it, its curves. */

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../api';
import { type IJob, type ILogLine, isEnded } from '../domain';
import type { EventStream, ILogChunk } from '../events';
import type { Jobs } from './jobs';
import { LogStore } from './log';
import { Metrics } from './metrics';
import { Statistics } from './statistics';
import { LogSearch } from './search';

/** Lines that are read at a time, and at most, to draw the curves of a job. */
const SCAN_LINES = 10_000;
const SCAN_LONGEST = 300_000;

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
    this.statistics = new Statistics(
      () => _api.statistics(id),
      () => !!this.job && !isEnded(this.job.state)
    );
    events.logReceived.connect(this._onLog, this);
    this._watches = [events.watch('jobs')];
    void this._open();
  }

  readonly log: LogStore;
  readonly search: LogSearch;
  readonly metrics = new Metrics();
  readonly statistics: Statistics;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get job(): IJob | undefined {
    return this.jobs.get(this.id);
  }

  /** The job is not there: deleted, or never was. */
  get isGone(): boolean {
    return this._isGone;
  }

  get isScanning(): boolean {
    return this._isScanning;
  }

  get logFileUrl(): string {
    return this._api.logFileUrl(this.id);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Read the whole log for the curves, once; further lines are read as they come. */
  async readCurves(): Promise<void> {
    if (this._isScanning) {
      return;
    }
    this._isScanning = true;
    try {
      while (
        !this._isDisposed &&
        this.metrics.next < this.log.total &&
        this.metrics.next < SCAN_LONGEST
      ) {
        const page = await this._api.log(this.id, this.metrics.next, SCAN_LINES);
        if (!page.lines.length) {
          break;
        }
        this.metrics.read(page.lines);
        this._changed.emit();
      }
      this._readsCurves = true;
    } catch {
      // The next look tries again.
    }
    this._isScanning = false;
    this._changed.emit();
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.events.logReceived.disconnect(this._onLog, this);
    this._watches.forEach(watch => watch.dispose());
    this.statistics.dispose();
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
      this.log.appended.connect(this._onLines, this);
    }
    this._changed.emit();
  }

  private _onLog(_: EventStream, chunk: ILogChunk): void {
    if (chunk.id === this.id && this.log.isOpen) {
      this.log.receive(chunk.lines, chunk.next, chunk.ended);
    }
  }

  private _onLines(_: LogStore, lines: ILogLine[]): void {
    if (this._readsCurves) {
      if (lines[0].n > this.metrics.next) {
        void this.readCurves();
      } else {
        this.metrics.read(lines);
      }
    }
  }

  private readonly _watches: IDisposable[];
  private _isGone = false;
  private _isScanning = false;
  private _readsCurves = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
