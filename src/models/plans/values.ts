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

/** The sweep's own part of a form. */
export interface ISweepChoice {
  search: 'grid' | 'random' | 'optuna';
  trials: string;
  atOnce: string;
}

export const USUAL_SWEEP: ISweepChoice = { search: 'grid', trials: '', atOnce: '' };

/** As the server wants it. */
export function sweepFields(choice: ISweepChoice): {
  search: ISweepChoice['search'];
  trials?: number;
  at_once?: number;
} {
  const trials = Number(choice.trials);
  const atOnce = Number(choice.atOnce);
  return {
    search: choice.search,
    ...(trials > 0 ? { trials: Math.round(trials) } : {}),
    ...(atOnce > 0 ? { at_once: Math.round(atOnce) } : {})
  };
}
