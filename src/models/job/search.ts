/** Search in a whole log, page by page, without keeping it, and in what is written to it from then on. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { FetchLog } from './log';

/** Lines that are asked for at a time. */
const SCAN_LINES = 10_000;
/** Matches that are kept; who has more needs a narrower word. */
export const MATCHES_KEPT = 5_000;
/** Milliseconds in which new lines gather before they are looked through. */
const GATHERS = 500;

export class LogSearch {
  constructor(private readonly _fetch: FetchLog) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get query(): string {
    return this._query;
  }

  /** Line numbers that match, in order. */
  get matches(): readonly number[] {
    return this._matches;
  }

  /** Index in `matches` of the one that is shown; -1 where there is none, or all came later. */
  get current(): number {
    return this._current;
  }

  /** How often one has gone from match to match: the only one is gone to again. */
  get moves(): number {
    return this._moves;
  }

  /** Lines looked through so far; null when the search is done. */
  get scanned(): number | null {
    return this._scanned;
  }

  /** Look for `query`, case aside, in lines up to `total`; a new search ends the one before. */
  async start(query: string, total: number): Promise<void> {
    const run = ++this._run;
    this._query = query;
    this._matches = [];
    this._current = -1;
    this._since = 0;
    this._total = total;
    this._scanned = query ? 0 : null;
    this._changed.emit();
    await this._scan();
    if (run === this._run) {
      this._scanned = null;
      this._changed.emit();
    }
  }

  /** The log has `total` lines now: the new ones are looked through too, and nobody is led to one of them unasked. */
  follow(total: number): void {
    this._total = Math.max(this._total, total);
    if (this._query && this._since < this._total && !this._waits && this._scanned === null) {
      this._waits = true;
      window.setTimeout(async () => {
        // Another word's search, begun meanwhile, goes to the end of the log by itself.
        if (this._scanned === null) {
          await this._scan();
        }
        this._waits = false;
      }, GATHERS);
    }
  }

  /** Go `step` matches on, around the end. */
  move(step: number): void {
    const size = this._matches.length;
    if (size) {
      const from = this._current < 0 && step < 0 ? 0 : this._current;
      this._current = (from + step + size) % size;
      this._moves++;
      this._changed.emit();
    }
  }

  private async _scan(): Promise<void> {
    const run = this._run;
    const needle = this._query.toLowerCase();
    while (needle && this._since < this._total && this._matches.length < MATCHES_KEPT) {
      let page;
      try {
        page = await this._fetch(this._since, SCAN_LINES);
      } catch {
        break;
      }
      if (run !== this._run || !page.lines.length) {
        break;
      }
      for (const line of page.lines) {
        if (line.x.toLowerCase().includes(needle)) {
          this._matches.push(line.n);
        }
      }
      this._since = page.next;
      if (this._scanned !== null) {
        this._scanned = this._since;
        if (this._current < 0 && this._matches.length) {
          this._current = 0;
        }
      }
      this._changed.emit();
    }
  }

  private _run = 0;
  private _query = '';
  private _matches: number[] = [];
  private _current = -1;
  private _moves = 0;
  private _scanned: number | null = null;
  /** The next line to look through, and how many there are. */
  private _since = 0;
  private _total = 0;
  private _waits = false;
  private readonly _changed = new Signal<this, void>(this);
}
