/** A training's metrics as charts: what belongs together in one, against time or against epochs. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IJob, IJobMetrics, IMetricCurve } from '../../domain';
import type { IMark, ISeries } from '../../plots';

/** A chart of metrics that are the same quantity, of training and of validation. */
export interface IMetricChart {
  name: string;
  curves: IMetricCurve[];
}

/** What stands before a metric's name and says of which data it is. */
const OF = /^(?:train|training|val|valid|validation|eval|test|avg|mean)_/;
const SAME: Record<string, string> = { accuracy: 'acc' };
/** Charts that say most come first. */
const ORDER = ['loss', 'acc', 'f1', 'auc', 'miou', 'map', 'ppl', 'perplexity'];
/** Settings that a training prints beside its results. */
const SETTINGS = ['lr'];

/** Marks that are drawn at most; of many epochs every second, fifth or tenth. */
const MOST_MARKS = 10;

/** The charts of a job, those that say most first. */
export function metricCharts(metrics: IJobMetrics | null): IMetricChart[] {
  const charts = new Map<string, IMetricChart>();
  for (const curve of metrics?.curves ?? []) {
    const name = quantity(curve.name);
    const chart = charts.get(name) ?? { name, curves: [] };
    chart.curves.push(curve);
    charts.set(name, chart);
  }
  const rank = ({ name }: IMetricChart) => {
    const place = ORDER.indexOf(name);
    return SETTINGS.includes(name) ? ORDER.length + 1 : place < 0 ? ORDER.length : place;
  };
  return [...charts.values()].sort((a, b) => rank(a) - rank(b));
}

/** What a metric measures, whichever data it is of: `val_loss` is a loss. */
export function quantity(name: string): string {
  const bare = name.replace(OF, '');
  return SAME[bare] ?? bare;
}

/** A curve against seconds since `start`. */
export function overTime(curve: IMetricCurve, start: number, more?: Partial<ISeries>): ISeries {
  return {
    name: curve.name,
    x: curve.times.map(time => time - start),
    y: curve.values,
    ...more
  };
}

/** A curve against epochs; null where the training did not tell them at each point. */
export function overEpochs(curve: IMetricCurve, more?: Partial<ISeries>): ISeries | null {
  const places = curve.epochs.filter((place): place is number => place !== null);
  return places.length === curve.values.length && rises(places)
    ? { name: curve.name, x: places, y: curve.values, ...more }
    : null;
}

/** Where epochs begin, in seconds since `start`. */
export function epochMarks(
  metrics: IJobMetrics | null,
  start: number,
  trans: TranslationBundle
): IMark[] {
  const marks = metrics?.marks ?? [];
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find(n => marks.length / n <= MOST_MARKS);
  return marks
    .filter(({ epoch }) => epoch % (step ?? 1000) === 0)
    .map(({ epoch, time }, index) => ({
      x: time - start,
      label: index ? String(epoch) : trans.__('epoch %1', epoch)
    }));
}

/** A metric's last value, of training before validation. */
export function lastValue(chart: IMetricChart): number | null {
  return chart.curves[0]?.values.at(-1) ?? null;
}

/**
 * Where the charts of a job end, in seconds since its start, so that one moment stands at one place in all of them;
 * undefined while it runs, when each ends with its newest point.
 */
export function endOf(
  job: IJob,
  last: { job: IJob; metrics: IJobMetrics | null } | null
): number | undefined {
  const took = ({ created, started, ended }: IJob) =>
    ended === null ? 0 : ended - (started ?? created);
  return job.ended === null
    ? undefined
    : Math.max(took(job), last?.metrics?.curves.length ? took(last.job) : 0);
}

function rises(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= values[index - 1]);
}
