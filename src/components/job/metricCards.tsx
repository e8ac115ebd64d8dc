/** What a training says of itself, a chart for each quantity, with the last run as a dashed line. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { metric, stopwatch } from '../../format';
import {
  endOf,
  epochMarks,
  type IMetricChart,
  lastValue,
  metricCharts,
  overTime
} from '../../models/job/curves';
import type { JobView } from '../../models/job/jobView';
import { CLOCK_STEPS, curveColor, LineChart } from '../../plots';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { Card } from './card';

/** Charts that are shown before somebody asks for all of them. */
const SHOWN = 3;

export function MetricCards({ model, job }: { model: JobView; job: IJob }): JSX.Element | null {
  const { trans } = useApp();
  const [all, setAll] = React.useState(false);
  const { value } = model.metrics;
  const charts = React.useMemo(() => metricCharts(value), [value]);
  const shown = all ? charts : charts.slice(0, SHOWN);
  return (
    <>
      {shown.map(chart => (
        <MetricCard key={chart.name} chart={chart} model={model} job={job} />
      ))}
      {charts.length > SHOWN && (
        <div className="jp-PaddleGpu-cardsMore">
          <Button look="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all
              ? trans.__('Fewer curves')
              : trans._n('%1 more curve', '%1 more curves', charts.length - SHOWN)}
          </Button>
        </div>
      )}
    </>
  );
}

function MetricCard(props: { chart: IMetricChart; model: JobView; job: IJob }): JSX.Element {
  const { trans } = useApp();
  const { chart, model, job } = props;
  const start = job.started ?? job.created;
  const metrics = model.metrics.value;
  const { last } = model;
  const series = React.useMemo(() => {
    const own = chart.curves.map((curve, color) => overTime(curve, start, { color }));
    const before = metricCharts(last?.metrics ?? null).find(({ name }) => name === chart.name);
    const since = last?.job.started ?? 0;
    const dashed = (before?.curves ?? [])
      .filter(({ name }) => chart.curves.some(one => one.name === name))
      .map(curve =>
        overTime(curve, since, { name: trans.__('%1, last run', curve.name), dashed: true })
      );
    return [...own, ...dashed];
  }, [chart, start, last?.job.id, last?.metrics]);
  const marks = React.useMemo(() => epochMarks(metrics, start, trans), [metrics, start]);
  // A number that was followed by `nan` is not the newest.
  const known = chart.curves[0]?.name in job.progress.metrics;
  const newest = known ? lastValue(chart) : null;
  return (
    <Card title={chart.name} aside={<b className="jp-PaddleGpu-figures">{metric(newest)}</b>}>
      <LineChart
        label={trans.__('%1 over time, last value %2', chart.name, metric(newest))}
        series={series}
        marks={marks}
        sync={`job ${job.id}`}
        end={endOf(job, last)}
        stepsX={CLOCK_STEPS}
        formatX={stopwatch}
        formatY={metric}
      />
      <Legend names={series.map(({ name, dashed }) => ({ name, dashed: !!dashed }))} />
    </Card>
  );
}

/** Which line is which; one alone needs none. */
export function Legend(props: {
  names: { name: string; dashed: boolean }[];
}): JSX.Element | null {
  if (props.names.length < 2) {
    return null;
  }
  return (
    <ul className="jp-PaddleGpu-legend">
      {props.names.map(({ name, dashed }, index) => (
        <li key={name}>
          <i
            className={`jp-PaddleGpu-swatch${dashed ? ' jp-mod-dashed' : ''}`}
            style={dashed ? undefined : { color: curveColor(index) }}
            aria-hidden="true"
          />
          {name}
        </li>
      ))}
    </ul>
  );
}
