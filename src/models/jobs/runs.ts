/** What tells runs of one notebook apart: how they are titled, what they have otherwise, what came out. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDifference, IJob, ISweep, IVariable, Value } from '../../domain';
import { metric, moment, money } from '../../format';

/** What people call the viewers of curves that notebooks keep in files of their own. */
export const VIEWERS: Record<string, string> = {
  visualdl: 'VisualDL',
  tensorboard: 'TensorBoard'
};

/** The viewers that have something to show of a job. */
export function viewersOf(job: IJob | undefined): string[] {
  const found = (job?.progress.event_files ?? []).map(({ viewer }) => viewer);
  return [...new Set(found)].filter(viewer => viewer in VIEWERS);
}

/** Whether a job runs a script, which has lines and no cells. */
export function isScript({ spec }: IJob): boolean {
  return spec.notebook.endsWith('.py');
}

/** A button's words that lead to where a job failed. */
export function leadsTo(
  job: IJob,
  { cell, line }: { cell: number; line?: number | null },
  trans: TranslationBundle
): string {
  return isScript(job)
    ? line
      ? trans.__('Go to line %1', line)
      : trans.__('Open the script')
    : trans.__('Go to cell %1', cell + 1);
}

/** A value as it is typed. */
export function valueText(value: Value | undefined): string {
  if (value === null || value === undefined) {
    return '–';
  }
  return typeof value === 'number' ? metric(value) : String(value);
}

/** What a variable is called: by what it is to the training where that is known, else as typed. */
export function roleName(
  { role, name }: Pick<IVariable, 'role' | 'name'>,
  trans: TranslationBundle
): string {
  switch (role) {
    case 'batch_size':
      return trans.__('batch');
    case 'learning_rate':
      return trans.__('learning rate');
    case 'epochs':
      return trans.__('epochs');
    case 'amp':
      return trans.__('mixed precision');
    case 'optimizer':
      return trans.__('optimizer');
    default:
      return name;
  }
}

/** What a run has otherwise, in as few words as a chip has. */
export function differenceText(one: IDifference, trans: TranslationBundle): string {
  switch (one.kind) {
    case 'code':
      return trans.__('other code');
    case 'devices':
      return one.after === 0
        ? trans.__('on the CPU')
        : trans._n('%1 device', '%1 devices', Number(one.after));
    case 'image':
      return trans.__(
        'image %1',
        String(one.after ?? '')
          .split('/')
          .pop() ?? ''
      );
    case 'engine':
    case 'device':
      return trans.__('on %1', valueText(one.after));
    case 'environment':
      return one.after === null
        ? trans.__('without %1', one.name)
        : `${one.name}=${valueText(one.after)}`;
    case 'variable':
      break;
  }
  const name = roleName(one, trans);
  return one.after === null ? trans.__('without %1', name) : `${name} ${valueText(one.after)}`;
}

/** The same with what it was before. */
export function differenceSentence(one: IDifference, trans: TranslationBundle): string {
  if (one.kind === 'code') {
    return trans.__('The code is another one than in the run before.');
  }
  const name = one.name || one.kind === 'variable' ? one.name || roleName(one, trans) : '';
  const change = `${valueText(one.before)} → ${valueText(one.after)}`;
  return `${name || kindName(one.kind, trans)} ${change}`;
}

function kindName(kind: IDifference['kind'], trans: TranslationBundle): string {
  switch (kind) {
    case 'devices':
    case 'device':
      return trans.__('devices');
    case 'image':
      return trans.__('image');
    default:
      return trans.__('where');
  }
}

/** A variable of a run by what it is to the training. */
export function byRole(job: IJob, role: IVariable['role']): IVariable | undefined {
  return job.spec.settings.variables.find(one => one.role === role);
}

/** What tells this run from others in a title: what differs, else its batch size. */
export function tellingPart(job: IJob, trans: TranslationBundle): string {
  const said = job.spec.differs.filter(({ kind }) => kind !== 'code').slice(0, 2);
  if (said.length) {
    return said.map(one => differenceText(one, trans)).join(' · ');
  }
  const batch = byRole(job, 'batch_size');
  return batch ? `${trans.__('batch')} ${valueText(batch.value)}` : '';
}

/** `digits_fit · batch 128 · 03:44`; `when` where others of its minute ask for more. */
export function jobTitle(
  job: IJob,
  trans: TranslationBundle,
  language: string,
  when = moment(job.created, language)
): string {
  const parts = [job.spec.name, tellingPart(job, trans), when];
  return parts.filter(Boolean).join(' · ');
}

/** How long a job has run, in seconds; null where it has not begun. */
export function seconds(job: IJob, now = Date.now() / 1000): number | null {
  return job.started === null ? null : Math.max(0, (job.ended ?? now) - job.started);
}

/** What a job has cost until now, or in all, in its price's currency; null where nobody says. */
export function cost(job: IJob, now = Date.now() / 1000): number | null {
  const span = seconds(job, now);
  return job.price && span !== null ? (job.price.hour * span) / 3600 : null;
}

/** The same with its currency; empty where nobody says. */
export function costText(job: IJob): string {
  const amount = cost(job);
  return amount === null || !job.price ? '' : money(amount, job.price.currency);
}

/** What the trials of a sweep have cost together; empty where that of one is not known. */
export function sweepCost(sweep: ISweep, jobs: { get(id: string): IJob | undefined }): string {
  const trials = sweep.trials.flatMap(({ job_id }) => jobs.get(job_id) ?? []);
  const costs = trials.flatMap(job => cost(job) ?? []);
  const price = trials[0]?.price;
  return price && costs.length === trials.length
    ? money(
        costs.reduce((sum, one) => sum + one, 0),
        price.currency
      )
    : '';
}

/**
 * The run of the same notebook that is held against this one: the one submitted before it. Trials of a sweep are none:
 * which of them came last is chance, and a sweep's page tells them apart.
 */
export function lastRun(job: IJob, jobs: readonly IJob[]): IJob | null {
  const runs = jobs.filter(({ spec }) => spec.trial === null);
  const told = runs.find(({ id }) => id === job.spec.differs_from);
  const before = () =>
    runs
      .filter(one => one.spec.notebook === job.spec.notebook && one.created < job.created)
      .sort((a, b) => b.created - a.created)
      .find(one => one.started !== null);
  return told?.started ? told : (before() ?? null);
}

/** What a device of a job was called when it was given; of a job from before that was kept its id. */
export function deviceCalled(job: IJob, id: string): string {
  return job.device_names[id]?.message ?? (id.length > 20 ? `…${id.slice(-6)}` : id);
}
