/**
 * A job's log as the view needs it: any length, only the pages that somebody looks at, in-place lines collapsed.
 *
 * Line numbers run from 0 without gaps, so a page is found by division and a line is known to be there or not. Lines
 * that come from the server's push are put at the end; where one is missing, its page is fetched.
 */

import { type ISignal, Signal } from '@lumino/signaling';

import type { ILogLine, ILogPage } from '../../domain';

/** Lines of a page, which is what is fetched and kept at once. */
export const PAGE_LINES = 1_000;
/** Pages that are kept; the ones not looked at for longest go first. */
const PAGES_KEPT = 60;

export type FetchLog = (since: number, limit: number) => Promise<ILogPage>;

interface IPage {
  lines: ILogLine[];
  /** Rows to show: for each the index in `lines` of the newest state of that line. */
  rows: number[];
  /** Stream -> its last row in this page. */
  last: Map<string, number>;
  /** Streams whose first line here goes on an in-place line of the page before. */
  leading: Set<string>;
  seen: Set<string>;
  used: number;
}

export class LogStore {
  constructor(private readonly _fetch: FetchLog) {}

  /** Emitted after lines came or went. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with lines at the end as they come, in order, each once. */
  get appended(): ISignal<this, ILogLine[]> {
    return this._appended;
  }

  /** Number of lines, as far as we heard: the number of the next one to ask for. */
  get total(): number {
    return this._total;
  }

  /** Whether no further line will come. */
  get ended(): boolean {
    return this._ended;
  }

  get isOpen(): boolean {
    return this._isOpen;
  }

  /** Why the last fetch failed; null after one that worked. */
  get error(): Error | null {
    return this._error;
  }

  /** Rows to show; pages that are not here yet count one row a line. */
  get rowCount(): number {
    return this._layout().at(-1) ?? 0;
  }

  /** Learn the length and load the end of the log, once more to go on at it. */
  async open(): Promise<void> {
    try {
      const head = await this._fetch(0, 1);
      this._total = Math.max(this._total, head.total);
      this._ended ||= head.ended;
      this._isOpen = true;
      this._error = null;
      const end = Math.floor((this._total - 1) / PAGE_LINES);
      if (this._total > 0 && !this._isWhole(end)) {
        await this._load(end);
      }
    } catch (reason) {
      this._error = reason as Error;
    }
    this._update();
  }

  /** Take lines from the server's push or a poll; what is here already is passed over. */
  receive(lines: ILogLine[], next: number, ended: boolean): void {
    const fresh = lines.filter(line => line.n >= this._total);
    for (const line of fresh) {
      this._put(line);
      this._total = line.n + 1;
    }
    this._total = Math.max(this._total, next);
    this._ended ||= ended;
    if (fresh.length) {
      this._appended.emit(fresh);
    }
    this._update();
  }

  /** The newest state of the line in row `index`; null while its page is not here. */
  row(index: number): ILogLine | null {
    const [number, offset] = this._locate(index);
    const page = this._pages.get(number);
    if (!page) {
      return null;
    }
    page.used = ++this._clock;
    return page.lines[this._rows(number)[offset]] ?? null;
  }

  /** Have the pages of rows `first` to `last` fetched where they are not here. */
  ensure(first: number, last: number): void {
    const from = this._locate(Math.max(0, first))[0];
    const to = this._locate(Math.max(0, last))[0];
    for (let number = from; number <= to; number++) {
      if (!this._isWhole(number)) {
        void this._load(number);
      }
    }
  }

  /** The row that shows line `seq`, once its page is here. */
  async rowOf(seq: number): Promise<number> {
    const number = Math.floor(seq / PAGE_LINES);
    if (!this._pages.has(number)) {
      await this._load(number);
    }
    const start = number === 0 ? 0 : this._layout()[number - 1];
    const rows = this._rows(number);
    const offset = rows.findIndex(index => index >= seq % PAGE_LINES);
    return start + (offset < 0 ? Math.max(0, rows.length - 1) : offset);
  }

  /** The last `count` rows that are here. */
  tail(count: number): ILogLine[] {
    const lines: ILogLine[] = [];
    const end = this.rowCount;
    for (let index = Math.max(0, end - count); index < end; index++) {
      const line = this.row(index);
      if (line) {
        lines.push(line);
      }
    }
    return lines;
  }

  private _put(line: ILogLine): void {
    const number = Math.floor(line.n / PAGE_LINES);
    const offset = line.n % PAGE_LINES;
    let page = this._pages.get(number);
    if (!page && offset === 0) {
      page = this._add(number, []);
    }
    if (page && page.lines.length === offset) {
      append(page, line);
    } else if (!page || page.lines.length < offset) {
      // Something is missing before this line.
      void this._load(number);
    }
  }

  private async _load(number: number): Promise<void> {
    let pending = this._pending.get(number);
    if (!pending) {
      pending = this._request(number).finally(() => this._pending.delete(number));
      this._pending.set(number, pending);
    }
    await pending;
  }

  private async _request(number: number): Promise<void> {
    const start = number * PAGE_LINES;
    const here = () => this._pages.get(number)?.lines ?? [];
    do {
      const got = here().length;
      let answer: ILogPage;
      try {
        answer = await this._fetch(start + got, PAGE_LINES - got);
        this._error = null;
      } catch (reason) {
        this._error = reason as Error;
        break;
      }
      // Lines that were pushed while we asked are here already.
      const next = start + here().length;
      const lines = answer.lines.filter(line => line.n >= next && line.n < start + PAGE_LINES);
      this._total = Math.max(this._total, answer.total);
      if (!lines.length) {
        break;
      }
      this._add(number, [...here(), ...lines]);
      // An answer is bounded in bytes as well, and lines may have come meanwhile.
    } while (!this._isWhole(number));
    this._update();
  }

  private _isWhole(number: number): boolean {
    const size = Math.min(PAGE_LINES, this._total - number * PAGE_LINES);
    return (this._pages.get(number)?.lines.length ?? 0) >= size;
  }

  private _add(number: number, lines: ILogLine[]): IPage {
    const page: IPage = {
      lines: [],
      rows: [],
      last: new Map(),
      leading: new Set(),
      seen: new Set(),
      used: ++this._clock
    };
    lines.forEach(line => append(page, line));
    this._pages.set(number, page);
    if (this._pages.size > PAGES_KEPT) {
      const end = Math.floor(Math.max(0, this._total - 1) / PAGE_LINES);
      const oldest = [...this._pages.entries()]
        .filter(([key]) => key !== number && key !== end)
        .sort((a, b) => a[1].used - b[1].used)[0];
      this._pages.delete(oldest[0]);
    }
    return page;
  }

  /** The rows of a page, without those that the next page's first lines took the place of. */
  private _rows(number: number): number[] {
    const page = this._pages.get(number);
    if (!page) {
      return [];
    }
    const next = this._pages.get(number + 1);
    if (!next?.leading.size) {
      return page.rows;
    }
    const gone = new Set([...next.leading].map(stream => page.last.get(stream)));
    return page.rows.filter((_, row) => !gone.has(row));
  }

  /** Sums of rows up to and with each page. */
  private _layout(): number[] {
    if (!this._sums) {
      let sum = 0;
      this._sums = [];
      for (let number = 0; number * PAGE_LINES < this._total; number++) {
        const size = Math.min(PAGE_LINES, this._total - number * PAGE_LINES);
        sum += this._pages.has(number) ? this._rows(number).length : size;
        this._sums.push(sum);
      }
    }
    return this._sums;
  }

  /** Page and row in it of a row of the whole log. */
  private _locate(index: number): [number, number] {
    const sums = this._layout();
    let low = 0;
    let high = Math.max(0, sums.length - 1);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > index) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return [low, index - (low === 0 ? 0 : sums[low - 1])];
  }

  private _update(): void {
    this._sums = null;
    this._changed.emit();
  }

  private readonly _pages = new Map<number, IPage>();
  private readonly _pending = new Map<number, Promise<void>>();
  private _sums: number[] | null = null;
  private _total = 0;
  private _ended = false;
  private _isOpen = false;
  private _error: Error | null = null;
  private _clock = 0;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _appended = new Signal<this, ILogLine[]>(this);
}

/** Put a line at a page's end; an in-place line takes the row of its stream's last one. */
function append(page: IPage, line: ILogLine): void {
  const index = page.lines.push(line) - 1;
  const row = page.last.get(line.s);
  if (line.r && row !== undefined) {
    page.rows[row] = index;
  } else {
    if (line.r && !page.seen.has(line.s)) {
      page.leading.add(line.s);
    }
    page.last.set(line.s, page.rows.push(index) - 1);
  }
  page.seen.add(line.s);
}
