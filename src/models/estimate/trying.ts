/** How an estimate is tried: behind a pause, and again where what was chosen is there no more. */

import type { ApiError } from '../../api';

/** The server's code for a choice that is none of the notebook's trainings. */
const NO_SUCH_TRAINING = 'no_such_training';

/** What is asked for now: whoever asks anew waits for no earlier answer. */
export class Asking {
  /** When it was asked for, in milliseconds since the epoch. */
  since = 0;

  /** Ask; the answer is passed over once this is aborted. */
  begin(): AbortSignal {
    this.end();
    this.since = Date.now();
    this._run = new AbortController();
    return this._run.signal;
  }

  /** Of what is being asked. */
  get signal(): AbortSignal {
    return this._run.signal;
  }

  end(): void {
    this._run.abort();
  }

  private _run = new AbortController();
}

export function pause(milliseconds: number): Promise<void> {
  return milliseconds > 0
    ? new Promise(done => setTimeout(done, milliseconds))
    : Promise.resolve();
}

/**
 * What `make` answers, without the training that was chosen where an edit took it away: the list of those that there are
 * stands in answers alone.
 */
export async function whereChosen<T>(make: () => Promise<T>, forget: () => void): Promise<T> {
  try {
    return await make();
  } catch (reason) {
    if ((reason as ApiError).code !== NO_SUCH_TRAINING) {
      throw reason;
    }
    forget();
    return make();
  }
}
