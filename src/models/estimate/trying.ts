/** How an estimate is tried: behind a pause, and again where what was chosen is there no more. */

import type { ApiError } from '../../api';

/** The server's code for a choice that is none of the notebook's trainings. */
const NO_SUCH_TRAINING = 'no_such_training';

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
