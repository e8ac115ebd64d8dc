/** What one process of a job writes: its lines as they come, a search in them, and what one takes along. */

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { LogStore, type FetchLog } from './log';
import { Polled } from './polled';
import { LogSearch } from './search';

/** Lines at the end of a log that are read at once: what one copies, and where an error is looked for. */
const END_LINES = 10_000;

export class JobLog implements IDisposable {
  constructor(
    private readonly _fetch: FetchLog,
    /** Where the whole of it can be downloaded. */
    readonly fileUrl: string,
    isRunning: () => boolean
  ) {
    this.lines = new LogStore(_fetch);
    this.search = new LogSearch(_fetch);
    this.lines.changed.connect(({ total }) => this.search.follow(total));
    this._polled = new Polled(async () => {
      await this.lines.open();
      if (this.lines.error) {
        throw this.lines.error;
      }
    }, isRunning);
  }

  readonly lines: LogStore;
  readonly search: LogSearch;

  get isDisposed(): boolean {
    return this._polled.isDisposed;
  }

  /** Ask for what is new until the answer is disposed: the server tells the first process's lines alone by itself. */
  look(): IDisposable {
    return this._polled.look();
  }

  /** The end of the log as text. */
  async text(): Promise<string> {
    const { lines } = await this._fetch(-END_LINES, END_LINES);
    // Of a line that was drawn in place its last state.
    const last = lines.filter((line, index) => !(line.p || lines[index + 1]?.r));
    return `${last.map(line => line.x).join('\n')}\n`;
  }

  /** Number of the line where the traceback begins that ended the job; null where none is near the end. */
  async errorLine(): Promise<number | null> {
    const { lines } = await this._fetch(-END_LINES, END_LINES);
    for (let index = lines.length - 1; index >= 0; index--) {
      if (lines[index].s === 'stderr' && lines[index].x.includes('Traceback (most recent')) {
        return lines[index].n;
      }
    }
    return lines.find(line => line.at)?.n ?? null;
  }

  dispose(): void {
    this._polled.dispose();
    Signal.clearData(this.lines);
    Signal.clearData(this.search);
  }

  private readonly _polled: Polled<void>;
}
