/** How high the panel's charts are, and which round sizes they name. */

/** Pixels of a chart in the sidebar; beside a notebook, as a tab, it has room to be read from further away. */
const LEAST = 76;
const MOST = 180;

export function chartHeight(width: number): number {
  return Math.round(Math.max(LEAST, Math.min(MOST, 0.36 * width - 50)));
}

/** Round sizes below the highest: powers of two, so that they are short to read. */
export function roundSizes(highest: number): number[] {
  const unit = 2 ** Math.floor(Math.log2(highest));
  return highest >= 1.25 * unit ? [unit, unit / 2] : [unit / 2];
}
