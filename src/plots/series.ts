/** What a curve is drawn from, and the figures of it that need no canvas. */

/** One curve: `y` at the places `x`, which rise; null breaks the line. */
export interface ISeries {
  name: string;
  x: readonly number[];
  y: readonly (number | null)[];
  /** Of another run: drawn as a dashed, quiet line. */
  dashed?: boolean;
  /** The same number is the same colour in every chart; by default its place in the list. */
  color?: number;
}

/** A horizontal line to hold the curve against: an estimate, a card's memory. */
export interface ILimit {
  value: number;
  label: string;
}

/** A vertical line at a place of the axis: the begin of an epoch. */
export interface IMark {
  x: number;
  label: string;
}

/** Rows of the table that stands for a curve where nobody sees it. */
const TABLE_ROWS = 24;

/** Indices that are spread evenly over `length`, first and last among them, at most `most`. */
export function spread(length: number, most = TABLE_ROWS): number[] {
  const count = Math.min(length, most);
  return Array.from({ length: count }, (_, index) =>
    count < 2 ? 0 : Math.round((index * (length - 1)) / (count - 1))
  );
}

/** The last value that is known; null where none is. */
export function lastKnown(values: readonly (number | null)[]): number | null {
  for (let index = values.length - 1; index >= 0; index--) {
    const value = values[index];
    if (value !== null) {
      return value;
    }
  }
  return null;
}

/** Least and greatest of the values that are known; null where none is. */
export function extent(values: Iterable<number | null>): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value !== null) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : null;
}

/** Room above the greatest and below the least value, as a share of what the axis shows. */
const MARGIN = 0.06;

/**
 * From where to where an axis with these values goes; `low` and `high` are ends that are told.
 * The room is a share of the axis, not of the values: nearly equal ones high above `low` would else lie on the frame.
 */
export function framed(
  values: Iterable<number | null>,
  low?: number,
  high?: number
): [number, number] {
  const [lowest, highest] = extent(values) ?? [0, 1];
  const from = low ?? lowest;
  const to = high ?? highest;
  const margin = (to - from || Math.abs(to) || 1) * MARGIN;
  return [low ?? from - margin, high ?? to + margin];
}
