/** Where JupyterLab keeps over a reload what is known of a notebook, and which failures were read. */

export const FAILURES = 'jupyter-paddle-gpu:failures';
export const NAMESPACE = 'jupyter-paddle-gpu:training';

/** Which failures nobody has read; kept since jobs were listed for the first time. */
export interface IFailuresKept {
  /** End of the newest one that was read, in seconds since the epoch. */
  since: number;
  /** Ids of newer ones that were read. */
  read: string[];
}

export function key(path: string): string {
  return `${NAMESPACE}:${path}`;
}
