/** Where JupyterLab keeps over a reload what is known of a notebook, and whether jobs ran. */

export const ACTIVE = 'jupyter-paddle-gpu:active';
export const NAMESPACE = 'jupyter-paddle-gpu:training';

export function key(path: string): string {
  return `${NAMESPACE}:${path}`;
}
