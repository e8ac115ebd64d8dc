/** Whether what is typed for a variable is one value or several; the server reads what they are. */

import type { Value } from '../../domain';

const RANGE = /^[^:'",]+:[^:]+(:[^:]+)?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Whether a list or a range is typed for a variable that has a value of this kind. */
export function isSeveral(typed: string, value: Value): boolean {
  const text = typed.trim();
  if (typeof value === 'string') {
    // A text may hold a comma itself.
    return text.includes(',') && !value.includes(',');
  }
  if (typeof value === 'boolean') {
    return text.includes(',');
  }
  const parts = text.split(',').map(part => part.trim());
  return parts.length > 1
    ? parts.every(part => NUMBER.test(part))
    : RANGE.test(text) &&
        text
          .split(':')
          .slice(0, 2)
          .every(part => NUMBER.test(part.trim()));
}

/** How many values are typed in a list or a range, as the server reads them; null where any between two is one. */
function countOf(text: string): number | null {
  if (text.includes(',')) {
    return new Set(text.split(',').map(part => part.trim())).size;
  }
  if (!text.includes(':')) {
    return 1;
  }
  const [low, high, step = ''] = text.split(':').map(part => part.trim());
  const [first, last] = [Number(low), Number(high)];
  if (step.startsWith('log')) {
    return Number(step.slice(3)) || null;
  }
  if (/^[x*]/.test(step)) {
    return Math.floor(Math.log(last / first) / Math.log(Number(step.slice(1))) + 1e-9) + 1;
  }
  const isWhole = [low, high].every(part => /^[+-]?\d+$/.test(part));
  return step || isWhole ? Math.floor((last - first) / Number(step || 1) + 1e-9) + 1 : null;
}

/** How many runs all combinations are; null where a range is open, or what is typed is none. */
export function runsOf(typed: readonly string[]): number | null {
  const counts = typed.map(countOf);
  const runs = counts.reduce<number>((product, count) => product * (count ?? NaN), 1);
  return Number.isFinite(runs) && runs > 0 ? runs : null;
}

/** The sweep's own part of a form. */
export interface ISweepChoice {
  search: 'grid' | 'random' | 'optuna';
  trials: string;
  atOnce: string;
  /** By which the best is found; empty: what the server calls final. */
  metric: string;
  /** Empty: as the metric's name says. */
  direction: '' | 'min' | 'max';
}

/** Trials of a search that goes through some of the combinations only, where none are named: as the server has it. */
const USUAL_TRIALS = 20;

/** How many trials a sweep has of so many combinations; null where that is open. */
export function trialsOf({ search, trials }: ISweepChoice, runs: number | null): number | null {
  const most = Math.round(Number(trials)) || (search === 'grid' ? Infinity : USUAL_TRIALS);
  const count = Math.min(most, runs ?? Infinity);
  return Number.isFinite(count) ? count : null;
}

export const USUAL_SWEEP: ISweepChoice = {
  search: 'grid',
  trials: '',
  atOnce: '',
  metric: '',
  direction: ''
};

/** As the server wants it. */
export function sweepFields(choice: ISweepChoice): {
  search: ISweepChoice['search'];
  trials?: number;
  at_once?: number;
  metric?: string;
  direction?: 'min' | 'max';
} {
  const trials = Number(choice.trials);
  const atOnce = Number(choice.atOnce);
  const { metric, direction } = choice;
  return {
    search: choice.search,
    ...(trials > 0 ? { trials: Math.round(trials) } : {}),
    ...(atOnce > 0 ? { at_once: Math.round(atOnce) } : {}),
    ...(metric.trim() && { metric: metric.trim() }),
    ...(direction && { direction })
  };
}
