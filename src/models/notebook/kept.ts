/** Where JupyterLab keeps over a reload what is known of a notebook, whether jobs ran, and which failures were read. */

export const ACTIVE = 'jupyter-paddle-gpu:active';
export const FAILURES = 'jupyter-paddle-gpu:failures';
export const NAMESPACE = 'jupyter-paddle-gpu:training';

/** Which failures nobody has read. */
export interface IFailuresKept {
  /** End of the newest one that was read, in seconds since the epoch. */
  since: number;
  /** Ids of newer ones that were read. */
  read: string[];
  count: number;
}

export function key(path: string): string {
  return `${NAMESPACE}:${path}`;
}
