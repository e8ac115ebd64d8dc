/** What other extensions may ask for, and the names by which our parts find each other. */

import { Token } from '@lumino/coreutils';

import type { PanelModel } from './models/panel';

/** Ids of the commands; each is in the palette, and other extensions may execute it. */
export namespace CommandIDs {
  /** Submit the active notebook, unsaved changes included. */
  export const submit = 'paddle-gpu:submit';
  /** Estimate a training step of the active notebook. */
  export const estimate = 'paddle-gpu:estimate';
  /** Estimate a training step of a Python script; takes `{path}`, else the file that is chosen or open. */
  export const estimateScript = 'paddle-gpu:estimate-script';
  /** Submit a Python script; takes `{path}`, else the file that is chosen or open. */
  export const submitScript = 'paddle-gpu:submit-script';
  /** Show the panel; with `{mode: 'main'}` as a tab of the main area. */
  export const openPanel = 'paddle-gpu:open-panel';
  /** Show a job; takes `{id}`. */
  export const openJob = 'paddle-gpu:open-job';
  /** Stop a job; takes `{id}`. */
  export const cancelJob = 'paddle-gpu:cancel-job';
  /** Run a job again; takes `{id}`. */
  export const rerunJob = 'paddle-gpu:rerun-job';
  /** Run a job again with other values, which are asked for; takes `{id}`. */
  export const rerunWith = 'paddle-gpu:rerun-with';
  /** Show all jobs on one page. */
  export const openJobs = 'paddle-gpu:open-jobs';
  /** Compare jobs side by side; takes `{ids}`, else the two newest of one notebook. */
  export const compareJobs = 'paddle-gpu:compare-jobs';
  /** Open VisualDL or TensorBoard on what a job writes for it; takes `{id, viewer}`. */
  export const openViewer = 'paddle-gpu:open-viewer';
  /** Open a job's executed notebook; takes `{id}`. */
  export const openNotebook = 'paddle-gpu:open-notebook';
}

/** What we are called, in every language. */
export const PRODUCT = 'Paddle GPU';

/** The domain of the translation catalogue. */
export const DOMAIN = 'jupyter_paddle_gpu';

/** The state behind the panel: notebook, estimate, devices, jobs. */
export const IPaddleGpuModel = new Token<IPaddleGpuModel>(
  'jupyter-paddle-gpu:IPaddleGpuModel',
  'What trains in the active notebook, what it takes, where it fits, and the jobs.'
);

export interface IPaddleGpuModel {
  /** The state; null until something needs it. */
  readonly model: PanelModel | null;
  /** Read what it is made of, where nobody has yet. */
  load(): Promise<PanelModel>;
}
