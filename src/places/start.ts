/** The start of a page on which nobody has looked at the panel yet. */

import type { IStateDB } from '@jupyterlab/statedb';

import { FAILURES } from '../models/notebook/kept';

/** Milliseconds after which a page that has not come to rest does it all the same. */
const IDLE_LONGEST = 3_000;

/** Where somebody ever saw jobs, `load` what tells of them: what failed meanwhile, what runs. Others are asked for nothing. */
export async function onceSeen(
  state: Pick<IStateDB, 'fetch'> | null,
  restored: Promise<unknown>,
  load: () => void
): Promise<void> {
  const kept = await state?.fetch(FAILURES).catch(() => undefined);
  if (!kept) {
    return;
  }
  // Behind what JupyterLab itself draws at its start; Safari cannot tell when that is.
  await restored;
  if (window.requestIdleCallback) {
    window.requestIdleCallback(load, { timeout: IDLE_LONGEST });
  } else {
    window.setTimeout(load, IDLE_LONGEST);
  }
}
