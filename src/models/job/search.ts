/** Search in a whole log, page by page, without keeping it. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { FetchLog } from './log';

/** Lines that are asked for at a time. */
const SCAN_LINES = 10_000;
/** Matches that are kept; who has more needs a narrower word. */
export const MATCHES_KEPT = 5_000;

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

  /** Index in `matches` of the one that is shown; -1 where there is none. */
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
    this._scanned = query ? 0 : null;
    this._changed.emit();
    const needle = query.toLowerCase();
    let since = 0;
    while (query && since < total && this._matches.length < MATCHES_KEPT) {
      let page;
      try {
        page = await this._fetch(since, SCAN_LINES);
      } catch {
        break;
      }
      if (run !== this._run) {
        return;
      }
      for (const line of page.lines) {
        if (line.x.toLowerCase().includes(needle)) {
          this._matches.push(line.n);
        }
      }
      if (this._current < 0 && this._matches.length) {
        this._current = 0;
      }
      if (!page.lines.length) {
        break;
      }
      since = page.next;
      this._scanned = since;
      this._changed.emit();
    }
    this._scanned = null;
    this._changed.emit();
  }

  /** Go `step` matches on, around the end. */
  move(step: number): void {
    const size = this._matches.length;
    if (size) {
      this._current = (this._current + step + size) % size;
      this._moves++;
      this._changed.emit();
    }
  }

  private _run = 0;
  private _query = '';
  private _matches: number[] = [];
  private _current = -1;
  private _moves = 0;
  private _scanned: number | null = null;
  private readonly _changed = new Signal<this, void>(this);
}
