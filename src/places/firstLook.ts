/** The first look: the panel opens once beside the first notebook that imports Paddle, as wide as it reads well. */

import type { IStateDB } from '@jupyterlab/statedb';
import type { Widget } from '@lumino/widgets';

const OPENED = 'jupyter-paddle-gpu:opened';
const WIDENED = 'jupyter-paddle-gpu:widened';
/** Pixels of the sidebar when the panel is shown for the first time, and below which it is widened then. */
const WIDTH = 350;
export const NARROW = 340;
/** Pixels below which labels would be cut; JupyterLab gives a sidebar that was closed at a reload less. */
export const LEAST = 280;
/** An import of Paddle, or of what is built on it. */
const IMPORTS = /^\s*(?:import|from)\s+paddle/m;

/** Whether code uses Paddle, as far as a glance tells. */
export function importsPaddle(code: string): boolean {
  return IMPORTS.test(code);
}

/** Does `once` the first time ever that it is asked to; without a place to note it down, never. */
export async function onceEver(
  state: IStateDB | null,
  what: 'opened' | 'widened',
  once: () => void
): Promise<void> {
  const key = what === 'opened' ? OPENED : WIDENED;
  if (state && (await state.fetch(key)) === undefined) {
    await state.save(key, true);
    once();
  }
}

/** What of Lumino's split panel is used. */
interface ISplit extends Widget {
  relativeSizes(): number[];
  setRelativeSizes(sizes: number[]): void;
  widgets: readonly Widget[];
}

/** Give the sidebar that holds a narrower widget the width with which the panel reads well; the main area gives it. */
export function widen(widget: Widget, narrower: number): void {
  const path: Widget[] = [];
  for (let at: Widget | null = widget; at; at = at.parent) {
    path.push(at);
  }
  const split = path.find((one): one is ISplit => one.id === 'jp-main-split-panel');
  const place = split ? split.widgets.findIndex(one => path.includes(one)) : -1;
  const whole = split?.node.clientWidth ?? 0;
  if (!split || place < 0 || whole < 3 * WIDTH || widget.node.clientWidth >= narrower) {
    return;
  }
  const sizes = split.relativeSizes();
  const largest = sizes.indexOf(Math.max(...sizes));
  const wanted = WIDTH / whole;
  const given = wanted - sizes[place];
  if (largest !== place && given > 0) {
    sizes[place] = wanted;
    sizes[largest] -= given;
    split.setRelativeSizes(sizes);
  }
}
