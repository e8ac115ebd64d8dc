/** What is read in a notebook without running it. */

import { type Api, type ApiError, lasting } from '../../api';
import type { INotebookFacts } from '../../domain';
import type { INotebookSource } from '../notebook/notebook';

export class Reading {
  constructor(
    private readonly _api: Api,
    private readonly _source: () => INotebookSource
  ) {}

  facts: INotebookFacts | null = null;
  error: ApiError | null = null;

  /** Read it; not again while its code is as it was. */
  async read(code: string): Promise<void> {
    if (code === this._code && this.facts && !this.error) {
      return;
    }
    const run = ++this._runs;
    try {
      const facts = await this._api.inspect(this._source().body());
      if (run === this._runs) {
        this.take(facts, code);
      }
    } catch (reason) {
      if (run === this._runs) {
        this.error = reason as ApiError;
      }
    }
  }

  /** Facts about this code, which came with its estimate. */
  take(facts: INotebookFacts, code: string): void {
    this._runs++; // what is still being read is older
    this.facts = facts;
    this.error = null;
    this._code = code;
  }

  /** Whether it failed only for want of the server. */
  get waits(): boolean {
    return this.error !== null && !lasting(this.error);
  }

  dispose(): void {
    this._runs = NaN;
  }

  private _code = '';
  private _runs = 0;
}
