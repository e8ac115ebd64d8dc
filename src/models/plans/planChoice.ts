/** When a notebook is to run, and with which values, as the submit dialog holds it. Kept for nothing but this submit. */

import type { ApiError } from '../../api';
import type { IScheduleBody, IVariable } from '../../domain';
import { type ISweepChoice, USUAL_SWEEP } from './values';

export type When = 'now' | 'at' | 'cron' | 'free' | 'cost';

export interface IPlanChoice {
  when: When;
  /** As a field for date and time has it, in the reader's own time. */
  at: string;
  cron: string;
  /** Index of a device. */
  device: string;
  below: string;
  /** What a run takes. */
  source: 'disk' | 'saved';
  /** By variable what is typed. */
  values: Record<string, string>;
  sweep: ISweepChoice;
  error: ApiError | null;
}

export const NOW: IPlanChoice = {
  when: 'now',
  at: '',
  cron: '0 2 * * *',
  device: '',
  below: '',
  source: 'disk',
  values: {},
  sweep: USUAL_SWEEP,
  error: null
};

export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** As the server wants it; null where it runs now. */
export function whenOf(plan: IPlanChoice): IScheduleBody | null {
  const { when, source } = plan;
  const zone = ownZone();
  switch (when) {
    case 'now':
      return null;
    case 'at':
      return { at: plan.at, zone, source };
    case 'cron':
      return { cron: plan.cron, zone, source };
    case 'free':
      return { free: plan.device, source };
    case 'cost':
      return { below: Number(plan.below), source };
  }
}

/** By name what several values are tried for; null where there are none. */
export function spaceOf(
  plan: IPlanChoice,
  variables: readonly IVariable[]
): Record<string, string> | null {
  const typed = variables.flatMap(variable => {
    const name = variable.name || variable.role;
    const text = plan.values[name];
    // Whatever is typed there is to be tried; what cannot be is refused by the server, not run without.
    return text?.trim() ? [[name, text] as const] : [];
  });
  return typed.length ? Object.fromEntries(typed) : null;
}
