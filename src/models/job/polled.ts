/** What the server knows of a job and adds to while it runs: asked for while somebody looks. */

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

/** Milliseconds between two questions while the job runs and somebody looks. */
const ASK_INTERVAL = 3_000;

export class Polled<T> implements IDisposable {
  constructor(
    private readonly _fetch: () => Promise<T>,
    private readonly _isRunning: () => boolean
  ) {
    this._poll = new Poll<void, Error>({
      name: 'jupyter-paddle-gpu:polled',
      auto: false,
      factory: () => this._ask(),
      frequency: { interval: ASK_INTERVAL, backoff: true, max: 10 * ASK_INTERVAL },
      standby: 'when-hidden'
    });
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The last answer; null before the first. */
  get value(): T | null {
    return this._value;
  }

  /** Why the last question failed; null after one that did not. */
  get error(): Error | null {
    return this._error;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  /** Keep asking until the answer is disposed; once the job has ended, what was heard after its end stays. */
  look(): IDisposable {
    void this._poll.refresh();
    return new DisposableDelegate(() => {
      if (!this._poll.isDisposed) {
        void this._poll.stop();
      }
    });
  }

  retry(): void {
    void this._poll.refresh();
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      Signal.clearData(this);
    }
  }

  private async _ask(): Promise<void> {
    // Looked at before the question: what the job did until its end is then in the answer.
    const last = !this._isRunning();
    try {
      this._value = await this._fetch();
      this._error = null;
    } catch (reason) {
      this._error = reason as Error;
    }
    if (this.isDisposed) {
      return;
    }
    this._changed.emit();
    if (this._error) {
      throw this._error;
    }
    if (last) {
      void this._poll.stop();
    }
  }

  private readonly _poll: Poll<void, Error>;
  private _value: T | null = null;
  private _error: Error | null = null;
  private readonly _changed = new Signal<this, void>(this);
}
