/** The page of all jobs: which are shown, in which order, which are chosen, which are compared. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import { type IJob, isEnded, type ISweep, type JobState } from '../../domain';
import { cost, differenceText, jobTitle, seconds } from './runs';
import type { Plans } from '../plans/plans';
import { Comparison } from './comparison';
import type { Jobs } from './jobs';

export type Column = 'state' | 'name' | 'final' | 'started' | 'took' | 'cost' | 'where';

/** Which jobs are shown. Empty texts and null show all. */
export interface IFilter {
  words: string;
  state: '' | 'active' | JobState;
  /** Only those submitted in so many days, or on the day before today. */
  days: number | 'yesterday' | null;
  engine: string;
  owner: string;
  notebook: string;
  starred: boolean;
}

export interface IOrder {
  column: Column;
  /** The greatest first. */
  down: boolean;
}

const ALL: IFilter = {
  words: '',
  state: '',
  days: null,
  engine: '',
  owner: '',
  notebook: '',
  starred: false
};
const DAY = 86_400;
/** Jobs that are compared at most: more lines than colours tell nothing apart. */
export const MOST_COMPARED = 6;

export class JobsPage implements IDisposable {
  constructor(
    private readonly _api: Api,
    readonly jobs: Jobs,
    /** Sweeps and schedules. */
    readonly plans: Plans,
    private readonly _trans: TranslationBundle
  ) {
    jobs.changed.connect(this._onJobs, this);
    plans.changed.connect(this._onPlans, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get filter(): IFilter {
    return this._filter;
  }

  set filter(filter: IFilter) {
    this._filter = filter;
    this._update();
  }

  get isFiltered(): boolean {
    return JSON.stringify(this._filter) !== JSON.stringify(ALL);
  }

  showAll(): void {
    this.filter = ALL;
  }

  get order(): IOrder {
    return this._order;
  }

  /** Sort by a column; the same once more turns the order around. */
  sortBy(column: Column): void {
    const again = this._order.column === column;
    this._order = { column, down: again ? !this._order.down : column !== 'name' };
    this._update();
  }

  /** The jobs that are shown, in their order. */
  get shown(): readonly IJob[] {
    this._shown ??= sorted(filtered(this.jobs.list, this._filter, this._trans), this._order);
    return this._shown;
  }

  /** The sweeps that are shown: what hides all of its jobs hides a sweep. */
  get sweeps(): readonly ISweep[] {
    const { words, notebook, state, starred, owner, engine, days } = this._filter;
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const [since, until] = span(days, Date.now() / 1000);
    return this.plans.sweeps.filter(
      sweep =>
        !starred &&
        sweep.created >= since &&
        sweep.created < until &&
        (!state ||
          state === sweep.state ||
          (state === 'active' && sweep.state === 'running')) &&
        (!owner || sweep.owner === owner) &&
        (!engine ||
          sweep.trials.some(trial => this.jobs.get(trial.job_id)?.spec.engine === engine)) &&
        (!notebook || sweep.notebook === notebook) &&
        wanted.every(word =>
          [sweep.name, sweep.notebook, ...sweep.dimensions.map(({ name }) => name)]
            .join(' ')
            .toLowerCase()
            .includes(word)
        )
    );
  }

  /** Ids of those that are chosen and there. */
  get chosen(): readonly string[] {
    return [...this._chosen].filter(id => this.jobs.get(id) && !this.jobs.isLeaving(id));
  }

  isChosen(id: string): boolean {
    return this._chosen.has(id);
  }

  choose(id: string, chosen: boolean): void {
    if (chosen) {
      this._chosen.add(id);
    } else {
      this._chosen.delete(id);
    }
    this._changed.emit();
  }

  /** Choose all that are shown, or none. */
  chooseAll(chosen: boolean): void {
    this._chosen = new Set(chosen ? this.shown.map(({ id }) => id) : []);
    this._changed.emit();
  }

  /** Those of the chosen that can be deleted. */
  get deletable(): readonly string[] {
    return this.chosen.filter(id => {
      const job = this.jobs.get(id);
      return job && isEnded(job.state);
    });
  }

  /** Delete the chosen that have ended, after a while in which it can be taken back. */
  deleteChosen(): void {
    const ids = this.deletable;
    ids.forEach(id => this.jobs.delete(id));
    ids.forEach(id => this._chosen.delete(id));
    this._changed.emit();
  }

  /** Take all deletions back that still wait. */
  keepAll(): void {
    this.jobs.leaving.forEach(id => this.jobs.keep(id));
  }

  /** What is compared now; null where nothing is. */
  get comparison(): Comparison | null {
    return this._comparison;
  }

  /** Compare jobs; with fewer than two the comparison is closed. */
  compare(ids: readonly string[]): void {
    this._comparison?.dispose();
    const jobs = ids
      .flatMap(id => this.jobs.get(id) ?? [])
      .sort((a, b) => a.created - b.created)
      .slice(0, MOST_COMPARED);
    this._comparison = jobs.length > 1 ? new Comparison(this._api, this.jobs, jobs) : null;
    this._changed.emit();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Whether a job is here of whose devices a price was known. */
  get hasCosts(): boolean {
    return this.jobs.list.some(({ price }) => price);
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this.jobs.changed.disconnect(this._onJobs, this);
      this._comparison?.dispose();
      this.plans.changed.disconnect(this._onPlans, this);
      Signal.clearData(this);
    }
  }

  private _onJobs(): void {
    this._update();
  }

  private _onPlans(): void {
    this._changed.emit();
  }

  private _update(): void {
    this._shown = null;
    this._changed.emit();
  }

  private _filter = ALL;
  private _order: IOrder = { column: 'started', down: true };
  private _chosen = new Set<string>();
  private _shown: readonly IJob[] | null = null;
  private _comparison: Comparison | null = null;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** From when to when, in seconds; a day is one of where the reader is. */
function span(days: IFilter['days'], now: number): [number, number] {
  if (days === 'yesterday') {
    const [begin, end] = [new Date(now * 1000), new Date(now * 1000)];
    end.setHours(0, 0, 0, 0);
    begin.setHours(-24, 0, 0, 0);
    return [begin.getTime() / 1000, end.getTime() / 1000];
  }
  return [days === null ? -Infinity : now - days * DAY, Infinity];
}

/**
 * Sweeps among the first so many of the jobs by the time of their submission, where that is the order; else before them.
 * Of those that come behind the last job the ones wait that others of the jobs may stand before.
 */
export function withSweeps(
  sweeps: readonly ISweep[],
  jobs: readonly IJob[],
  most: number,
  { column, down }: IOrder
): (IJob | ISweep)[] {
  const first = jobs.slice(0, most);
  if (column !== 'started') {
    return [...sweeps, ...first];
  }
  const sign = down ? -1 : 1;
  const next = jobs[most]?.created;
  return [
    ...sweeps.filter(one => next === undefined || sign * (one.created - next) < 0),
    ...first
  ].sort((a, b) => sign * (a.created - b.created));
}

/** The jobs that a filter lets through. */
export function filtered(
  jobs: readonly IJob[],
  filter: IFilter,
  trans: TranslationBundle,
  now = Date.now() / 1000
): IJob[] {
  const wanted = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const [since, until] = span(filter.days, now);
  return jobs.filter(
    job =>
      job.spec.trial === null && // shown with its sweep
      job.created >= since &&
      job.created < until &&
      (!filter.state ||
        (filter.state === 'active' ? !isEnded(job.state) : job.state === filter.state)) &&
      (!filter.engine || job.spec.engine === filter.engine) &&
      (!filter.owner || job.owner === filter.owner) &&
      (!filter.notebook || job.spec.notebook === filter.notebook) &&
      (!filter.starred || job.starred) &&
      (!wanted.length || said(job, trans, wanted))
  );
}

/** Whether each word stands in what is said of a job. */
function said(job: IJob, trans: TranslationBundle, words: readonly string[]): boolean {
  const text = [
    job.spec.name,
    job.spec.notebook,
    job.note,
    job.owner,
    ...job.spec.differs.map(one => differenceText(one, trans))
  ]
    .join(' ')
    .toLowerCase();
  return words.every(word => text.includes(word));
}

const STATES: JobState[] = [
  'running',
  'stopping',
  'preparing',
  'queued',
  'failed',
  'cancelled',
  'succeeded'
];

/** The jobs by a column; those that have nothing there come last, either way. */
export function sorted(jobs: readonly IJob[], { column, down }: IOrder): IJob[] {
  const keys = new Map(jobs.map(job => [job, key(job, column)]));
  const sign = down ? -1 : 1;
  return [...jobs].sort((a, b) => {
    const [one, other] = [keys.get(a) ?? null, keys.get(b) ?? null];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null) || b.created - a.created;
    }
    const order =
      typeof one === 'string' ? one.localeCompare(String(other)) : one - Number(other);
    return sign * order || b.created - a.created;
  });
}

function key(job: IJob, column: Column): string | number | null {
  switch (column) {
    case 'state':
      return -STATES.indexOf(job.state);
    case 'name':
      return job.spec.name;
    case 'started':
      return job.created;
    case 'took':
      return seconds(job);
    case 'cost':
      return cost(job);
    case 'where':
      return `${job.spec.engine} ${job.device_ids.join(' ')}`;
    case 'final': {
      // The best first, whichever way is better.
      const { final } = job.progress;
      return final && (final.better === 'min' ? -final.value : final.value);
    }
  }
}

/** What a page of several jobs is called. */
export function comparisonTitle(
  jobs: readonly IJob[],
  trans: TranslationBundle,
  language: string
): string {
  const [first, ...others] = jobs.map(job => jobTitle(job, trans, language));
  return others.length === 1
    ? trans.__('%1 against %2', first, others[0])
    : trans.__('%1 jobs compared', jobs.length);
}
