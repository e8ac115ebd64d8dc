/** Words for sweeps and schedules. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDimension, ISchedule, ISweep, ITrial, IVariable, Value } from '../../domain';
import { BY_24_HOURS, metric, yearOf } from '../../format';
import { roleName } from '../../models/jobs/runs';
import { stateName } from '../jobs/words';

/** A trial that has a job is called as its job is; `program` is that job's. */
export function trialState(
  state: ITrial['state'],
  trans: TranslationBundle,
  program?: number | null
): string {
  switch (state) {
    case 'planned':
      return trans.__('planned');
    case 'refused':
      return trans.__('fits nothing');
    case 'deleted':
      return trans.__('deleted');
    default:
      return stateName(state, trans, program);
  }
}

export function writtenValue(value: unknown): string {
  return typeof value === 'number' ? metric(value) : String(value as Value);
}

/** What a sweep's variable is called, as everywhere else; as typed where two are the same to the training. */
export function dimensionName(
  { name, role }: IDimension,
  { dimensions }: ISweep,
  trans: TranslationBundle
): string {
  const alone = dimensions.filter(one => one.role === role).length === 1;
  return alone ? roleName({ name, role: role as IVariable['role'] }, trans) : name;
}

/** `learning rate 0.01 to 0.5`, `batch 32, 64`. */
export function dimensionText(
  dimension: IDimension,
  sweep: ISweep,
  trans: TranslationBundle
): string {
  const { values, low, high } = dimension;
  const tried = values.length
    ? values.map(writtenValue).join(', ')
    : trans.__('%1 to %2', metric(low), metric(high));
  return `${dimensionName(dimension, sweep, trans)} ${tried}`;
}

/** `learning rate 0.01 · batch 64`. */
export function valuesOf(trial: ITrial, sweep: ISweep, trans: TranslationBundle): string {
  return sweep.dimensions
    .filter(({ name }) => name in trial.values)
    .map(one => `${dimensionName(one, sweep, trans)} ${writtenValue(trial.values[one.name])}`)
    .join(' · ');
}

/** How many trials have ended. */
export function endedTrials(sweep: ISweep): number {
  return sweep.trials.filter(({ state }) =>
    ['succeeded', 'failed', 'cancelled', 'refused', 'deleted'].includes(state)
  ).length;
}

/** How far it is, in percent of its trials. */
export function sweepShare(sweep: ISweep): number {
  const all = Object.values(sweep.counts).reduce((sum, count) => sum + count, 0);
  return (100 * endedTrials(sweep)) / Math.max(1, all);
}

/** `7 of 12 trials · 1 failed`. */
export function sweepProgress(sweep: ISweep, trans: TranslationBundle): string {
  const { failed = 0, refused = 0 } = sweep.counts;
  const all = Object.values(sweep.counts).reduce((sum, count) => sum + count, 0);
  return [
    trans._n('%2 of %1 trial', '%2 of %1 trials', all, endedTrials(sweep)),
    failed ? trans.__('%1 failed', failed) : '',
    refused ? trans.__('%1 fit nothing', refused) : ''
  ]
    .filter(Boolean)
    .join(' · ');
}

/** A date in the schedule's own time zone, which is named where it is another one than the reader's; another year's with it. */
export function dateIn(time: number, zone: string, language: string): string {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const there = zone && zone !== own;
  const date = new Date(time * 1000);
  return new Intl.DateTimeFormat(language.replace('_', '-') || 'en', {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...BY_24_HOURS,
    ...yearOf(date),
    ...(there ? { timeZone: zone, timeZoneName: 'short' } : {})
  }).format(date);
}

export function scheduleState(state: ISchedule['state'], trans: TranslationBundle): string {
  switch (state) {
    case 'active':
      return trans.__('scheduled');
    case 'paused':
      return trans.__('paused');
    case 'done':
      return trans.__('submitted');
    case 'deleted':
      return trans.__('deleted');
  }
}
