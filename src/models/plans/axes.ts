/** Where the trials of a sweep stand on the axes of a parallel-coordinates plot. */

import type { IDimension, ISweep, ITrial, Value } from '../../domain';
import { metric } from '../../format';

export interface IAxis {
  name: string;
  /** What is written beside it, with the place from 0 (below) to 1. */
  ticks: { text: string; at: number }[];
  /** The place of a trial; null where it has none. */
  at(trial: ITrial): number | null;
}

/** Values that are written beside an axis one by one. */
const MOST_TICKS = 6;
/** From this ratio on, orders of magnitude are shown. */
const LOG_RATIO = 50;

/** The axes of the values that vary, called as is said, and that of what came out: in one point all lines would meet. */
export function axes(
  sweep: ISweep,
  called: (dimension: IDimension) => string = ({ name }) => name
): IAxis[] {
  const varied = sweep.dimensions.filter(({ values, low, high }) =>
    values.length ? new Set(values).size > 1 : low < high
  );
  const shown = varied.length ? varied : sweep.dimensions;
  const own = shown.map(one => ({ ...dimensionAxis(one), name: called(one) }));
  return sweep.metric ? [...own, metricAxis(sweep)] : own;
}

function dimensionAxis(dimension: IDimension): IAxis {
  const { name } = dimension;
  const listed: Value[] = dimension.values.length
    ? [...dimension.values]
    : [dimension.low, dimension.high];
  const numbers = listed.filter((value): value is number => typeof value === 'number');
  if (numbers.length < listed.length) {
    const place = (value: Value) => share(listed.indexOf(value), 0, listed.length - 1);
    return {
      name,
      ticks: thinned(listed.map(value => ({ text: String(value), at: place(value) }))),
      at: trial => (name in trial.values ? place(trial.values[name] as Value) : null)
    };
  }
  const scale = scaleOf(numbers, dimension.log);
  return {
    name,
    ticks: thinned(
      [...new Set(numbers)]
        .sort((a, b) => a - b)
        .map(value => ({ text: metric(value), at: scale(value) }))
    ),
    at: trial => {
      const value = trial.values[name];
      return typeof value === 'number' ? scale(value) : null;
    }
  };
}

function metricAxis(sweep: ISweep): IAxis {
  const values = sweep.trials.flatMap(({ value }) => (value === null ? [] : [value]));
  const scale = scaleOf(values, false);
  const ends = values.length ? [...new Set([Math.min(...values), Math.max(...values)])] : [];
  return {
    name: sweep.metric,
    ticks: ends.map(value => ({ text: metric(value), at: scale(value) })),
    at: trial => (trial.value === null ? null : scale(trial.value))
  };
}

function scaleOf(values: readonly number[], log: boolean): (value: number) => number {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low > 0 && (log || high / low > LOG_RATIO)
    ? value => share(Math.log(value), Math.log(low), Math.log(high))
    : value => share(value, low, high);
}

function share(value: number, low: number, high: number): number {
  return high > low ? (value - low) / (high - low) : 0.5;
}

function thinned<T>(ticks: T[]): T[] {
  return ticks.length <= MOST_TICKS ? ticks : [ticks[0], ticks[ticks.length - 1]];
}

/** How good a trial is among those that have ended: 1 the best, 0 the worst; null where it tells nothing. */
export function goodness(sweep: ISweep): (trial: ITrial) => number | null {
  const values = sweep.trials.flatMap(({ value }) => (value === null ? [] : [value]));
  const low = Math.min(...values);
  const high = Math.max(...values);
  return ({ value }) => {
    if (value === null) {
      return null;
    }
    const place = share(value, low, high);
    return sweep.direction === 'min' ? 1 - place : place;
  };
}
