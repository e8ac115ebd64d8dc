/** Distances between the ticks of an axis that is not counted in tens. */

/** Bytes: powers of two, so that a tick is a round size (`32 MiB`, not `38.1 MiB`). */
export const BYTE_STEPS: readonly number[] = Array.from({ length: 51 }, (_, n) => 2 ** n);

/** Seconds, as a clock is divided: `0:15`, `0:30`, not `0:25`. */
export const CLOCK_STEPS: readonly number[] = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map(minutes => 60 * minutes),
  ...[1, 2, 4, 6, 12, 24, 48, 96, 192, 384].map(hours => 3600 * hours)
];

/** A tick's words without zeros that say nothing: `32.0 MiB` is `32 MiB`. */
export function short(words: string): string {
  return words.replace(/(\.\d*?)0+(?=\s|$)/, (_, digits) => (digits === '.' ? '' : digits));
}
