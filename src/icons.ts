/** Our sign: a chip with the bars of a measurement on it. */

import { LabIcon } from '@jupyterlab/ui-components';

import svg from '../src/style/icons/paddleGpu.svg';

export const paddleGpuIcon = new LabIcon({
  name: 'jupyter-paddle-gpu:icon',
  svgstr: svg
});
