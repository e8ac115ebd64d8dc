/** Several jobs side by side: their curves, what each has otherwise, the code of two of them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api, ApiError } from '../../api';
import {
  type IComparison,
  type IJob,
  type IJobMetrics,
  type IJobStatistics,
  isEnded,
  measuredPeak
} from '../../domain';
import { bytes, clock, duration, metric } from '../../format';
import type { ISeries } from '../../plots';
import { type IMetricChart, metricCharts, overEpochs, overTime } from '../job/curves';
import type { Jobs } from './jobs';
import { costText, deviceCalled, roleName, seconds, tellingPart, valueText } from './runs';
import { curves } from '../job/statistics';

/** Milliseconds between two questions while one of the jobs runs. */
const ASK_INTERVAL = 5_000;

/** A row of the table: what it is, and each job's. */
export interface IComparedRow {
  name: string;
  values: string[];
}

/** Curves of several jobs in one chart, over epochs where all of them tell these, else over seconds. */
export interface IComparedChart {
  name: string;
  over: 'epochs' | 'seconds';
  series: ISeries[];
}

export class Comparison implements IDisposable {
  constructor(
    private readonly _api: Api,
    private readonly _jobs: Jobs,
    jobs: readonly IJob[]
  ) {
    this.ids = jobs.map(({ id }) => id);
    this._known = jobs;
    void this._read();
    if (jobs.length === 2) {
      this._api.compare(this.ids[0], this.ids[1]).then(
        code => {
          this._code = code;
          this._changed.emit();
        },
        (error: ApiError) => {
          this._codeError = error;
          this._changed.emit();
        }
      );
    }
  }

  readonly ids: readonly string[];

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The jobs in the order in which they were submitted; one that was deleted meanwhile as it was. */
  get jobs(): readonly IJob[] {
    return this._known.map(job => this._jobs.get(job.id) ?? job);
  }

  /** What the second of two jobs has otherwise, in code; null before it is known and for more than two. */
  get code(): IComparison | null {
    return this._code;
  }

  get codeError(): ApiError | null {
    return this._codeError;
  }

  /** Another number each time that curves were heard. */
  get version(): number {
    return this._version;
  }

  /** False until the curves were heard once. */
  get isRead(): boolean {
    return this._isRead;
  }

  metrics(id: string): IJobMetrics | null {
    return this._metrics.get(id) ?? null;
  }

  statistics(id: string): IJobStatistics | null {
    return this._statistics.get(id) ?? null;
  }

  /** Keep asking while one of the jobs runs. */
  look(): IDisposable {
    const timer = window.setInterval(() => {
      if (!document.hidden && this.jobs.some(job => !isEnded(job.state))) {
        void this._read();
      }
    }, ASK_INTERVAL);
    return new DisposableDelegate(() => window.clearInterval(timer));
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private async _read(): Promise<void> {
    await Promise.all(
      this.ids.map(async id => {
        try {
          const [metrics, statistics] = await Promise.all([
            this._api.metrics(id),
            this._api.statistics(id)
          ]);
          this._metrics.set(id, metrics);
          this._statistics.set(id, statistics);
        } catch {
          // A job that is gone has no curve; the others have.
        }
      })
    );
    this._isRead = true;
    this._version++;
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _known: readonly IJob[];
  private readonly _metrics = new Map<string, IJobMetrics>();
  private readonly _statistics = new Map<string, IJobStatistics>();
  private _code: IComparison | null = null;
  private _codeError: ApiError | null = null;
  private _isRead = false;
  private _version = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** What a job is called beside the others: its notebook where these are several, what tells it apart, of equals the time
 *  too, else its place. */
export function shortNames(jobs: readonly IJob[], trans: TranslationBundle): string[] {
  const several = new Set(jobs.map(({ spec }) => spec.name)).size > 1;
  const parts = jobs.map(job => {
    const part = tellingPart(job, trans);
    return part && several ? `${job.spec.name} · ${part}` : part || job.spec.name;
  });
  const times = parts.map((part, index) => `${part} · ${clock(jobs[index].created)}`);
  const isOnce = (names: string[], index: number) =>
    names.indexOf(names[index]) === names.lastIndexOf(names[index]);
  return parts.map((part, index) =>
    isOnce(parts, index)
      ? part
      : isOnce(times, index)
        ? times[index]
        : `${index + 1}: ${times[index]}`
  );
}

/** The charts that several jobs have in common, or one of them alone. */
export function comparedCharts(
  jobs: readonly IJob[],
  names: readonly string[],
  metrics: (id: string) => IJobMetrics | null
): IComparedChart[] {
  const charts = jobs.map(job => metricCharts(metrics(job.id)));
  const all = [...new Set(charts.flatMap(own => own.map(({ name }) => name)))];
  return all.map(name => {
    const own = charts.map(of => of.find(chart => chart.name === name));
    return compared(name, jobs, names, own);
  });
}

function compared(
  name: string,
  jobs: readonly IJob[],
  names: readonly string[],
  charts: readonly (IMetricChart | undefined)[]
): IComparedChart {
  const first = charts.map(chart => chart?.curves[0]);
  const byEpoch = first.map(
    (curve, color) => curve && overEpochs(curve, { name: names[color], color })
  );
  if (byEpoch.every((series, index) => series || !first[index])) {
    return { name, over: 'epochs', series: byEpoch.flatMap(series => series || []) };
  }
  const series = first.flatMap((curve, color) =>
    curve ? [overTime(curve, jobs[color].started ?? 0, { name: names[color], color })] : []
  );
  return { name, over: 'seconds', series };
}

/** The device memory of several jobs over time; of those without a device that of the machine. */
export function comparedMemory(
  jobs: readonly IJob[],
  names: readonly string[],
  statistics: (id: string) => IJobStatistics | null
): ISeries[] {
  return jobs.flatMap((job, color) => {
    const own = curves(statistics(job.id)?.points ?? [], job.started ?? undefined);
    const curve =
      own.find(({ what }) => what === 'device_memory') ??
      own.find(({ what }) => what === 'memory');
    return curve
      ? [
          {
            name: names[color],
            x: curve.moments.map(moment => moment.seconds),
            y: curve.moments.map(moment => moment.value),
            color
          }
        ]
      : [];
  });
}

/** What the jobs do not have in common, and what came out of each. */
export function comparedRows(
  jobs: readonly IJob[],
  trans: TranslationBundle,
  engineTitle: (name: string) => string
): IComparedRow[] {
  const rows: IComparedRow[] = [];
  const add = (name: string, values: string[], always = false) => {
    if (always ? values.some(value => value !== '–') : new Set(values).size > 1) {
      rows.push({ name, values });
    }
  };
  const variables = new Map(
    jobs.flatMap(job =>
      job.spec.settings.variables.map(one => [one.role || `.${one.name}`, one] as const)
    )
  );
  for (const [key, variable] of variables) {
    const of = (job: IJob) =>
      job.spec.settings.variables.find(one => (one.role || `.${one.name}`) === key)?.value;
    add(
      roleName(variable, trans),
      jobs.map(job => valueText(of(job)))
    );
  }
  const known = (value: string) => value || '–';
  add(
    trans.__('where'),
    jobs.map(job => engineTitle(job.spec.engine))
  );
  add(
    trans.__('devices'),
    jobs.map(job => known(job.device_ids.map(id => deviceCalled(job, id)).join(', ')))
  );
  add(
    trans.__('image'),
    jobs.map(job => known(job.spec.image))
  );
  add(
    trans.__('Paddle'),
    jobs.map(job => known(job.result?.paddle_version ?? ''))
  );
  const metrics = [...new Set(jobs.flatMap(job => Object.keys(job.progress.metrics)))];
  for (const name of metrics) {
    add(
      trans.__('final %1', name),
      jobs.map(job => valueText(job.progress.metrics[name])),
      true
    );
  }
  if (!metrics.length) {
    add(
      trans.__('final'),
      jobs.map(job => {
        const last = job.progress.final;
        return last ? `${last.name} ${metric(last.value)}` : '–';
      })
    );
  }
  add(
    trans.__('took'),
    jobs.map(job => {
      const span = seconds(job);
      return span === null ? '–' : duration(span, trans);
    }),
    true
  );
  if (jobs.some(({ price }) => price)) {
    add(
      trans.__('cost'),
      jobs.map(job => costText(job) || '–'),
      true
    );
  }
  add(
    trans.__('estimated peak'),
    jobs.map(job => bytes(job.spec.estimated_allocated_bytes)),
    true
  );
  add(
    trans.__('measured peak'),
    jobs.map(job => bytes(measuredPeak(job.result)?.bytes)),
    true
  );
  add(
    trans.__('note'),
    jobs.map(job => known(job.note))
  );
  return rows;
}
