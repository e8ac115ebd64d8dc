/** The job that runs, before all else: how far it is, its loss, its device, its last lines. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { metric, stopwatch } from '../../format';
import { metricCharts } from '../../models/job/curves';
import type { JobView } from '../../models/job/jobView';
import { isOf } from '../../models/jobs/jobViews';
import type { PanelModel } from '../../models/panel';
import { CLOCK_STEPS, LineChart, Sparkline } from '../../plots';
import { useApp, useSignal } from '../common/context';
import { Muted, Row } from '../common/pieces';
import { Unchecked } from '../devices/unchecked';
import { deviceName, figures, shortName } from '../devices/words';
import { Remarks } from './remarks';
import { StateSign, StopButton } from './state';
import { Tail } from './tail';
import { JobTitle } from './title';
import { ProgressBar } from './progressBar';

const CHART_HEIGHT = 96;
/** Points with which a curve begins to say something. */
const LEAST_POINTS = 2;
/** Epochs that are marked; more would hide the curve. */
const MOST_MARKS = 8;

export function Running(props: { model: PanelModel; view: JobView }): JSX.Element | null {
  const { trans } = useApp();
  const { model, view } = props;
  const { job } = view;
  if (!job) {
    return null;
  }
  // Who works in another notebook meanwhile knows, and has its whole estimate to read below.
  const path = model.training?.source.path;
  const isHere = path === undefined || isOf(job, path);
  return (
    <section className="jp-PaddleGpu-section jp-mod-whole" aria-label={trans.__('Running')}>
      <ul className="jp-PaddleGpu-jobs">
        <li
          className="jp-PaddleGpu-job jp-mod-now"
          data-state={job.state}
          aria-label={job.spec.name}
        >
          <Row>
            <StateSign state={job.state} />
            <JobTitle job={job} jobs={model.jobs} />
            <StopButton job={job} model={model} />
          </Row>
          <ProgressBar job={job} />
          <Remarks job={job} />
          <Curve view={view} />
          <JobDevices job={job} model={model} />
          <Tail view={view} running />
          {isHere && (
            <Muted as="p" small>
              {trans.__('Runs on its own: you may close this page.')}
            </Muted>
          )}
        </li>
      </ul>
    </section>
  );
}

/** The curve that says most of the training, its loss where it prints one, with the last run's beside it and epoch marks. */
function Curve({ view }: { view: JobView }): JSX.Element | null {
  const { trans } = useApp();
  useSignal(view.metrics.changed);
  useSignal(view.changed);
  React.useEffect(() => {
    const look = view.metrics.look();
    return () => look.dispose();
  }, [view]);
  const metrics = view.metrics.value;
  const before = view.last?.metrics ?? null;
  const curve = metricCharts(metrics)
    .flatMap(chart => chart.curves)
    .find(({ values }) => values.length >= LEAST_POINTS);
  const name = curve?.name ?? '';
  const series = React.useMemo(
    () =>
      [[metrics, false] as const, [before, true] as const].flatMap(([of, dashed]) => {
        const found = of?.curves.find(one => one.name === name);
        return found?.times.length
          ? [
              {
                name: dashed ? trans.__('last run') : name,
                x: found.times.map(time => time - found.times[0]),
                y: found.values,
                dashed
              }
            ]
          : [];
      }),
    [metrics, before, name, trans]
  );
  if (!curve || !metrics) {
    return null;
  }
  const last = curve.values[curve.values.length - 1];
  const marks = metrics.marks.map(({ epoch, time }) => ({
    x: time - curve.times[0],
    label: String(epoch)
  }));
  return (
    <LineChart
      label={trans.__('%1 over time: last %2', name, metric(last))}
      series={series}
      marks={marks.length <= MOST_MARKS ? marks : []}
      height={CHART_HEIGHT}
      stepsX={CLOCK_STEPS}
      formatX={stopwatch}
      formatY={metric}
    />
  );
}

/** The devices that the job has, with the course of their use. */
function JobDevices(props: { job: IJob; model: PanelModel }): JSX.Element | null {
  const { trans } = useApp();
  const { job, model } = props;
  const devices = (model.inventory?.devices ?? []).filter(({ id }) =>
    job.device_ids.includes(id)
  );
  if (!devices.length) {
    return null;
  }
  return (
    <>
      {devices.map(device => (
        // At the narrowest the figures take a second line rather than cutting the card's name.
        <div key={device.id} className="jp-PaddleGpu-row jp-PaddleGpu-wrap jp-PaddleGpu-small">
          <b>{deviceName(device, trans)}</b>
          <span className="jp-PaddleGpu-name" title={device.name}>
            {shortName(device)}
          </span>
          <Unchecked device={device} />
          <span className="jp-PaddleGpu-row jp-PaddleGpu-atEnd">
            <Sparkline
              values={model.courses.utilization(device.id)}
              low={0}
              high={100}
              width={60}
              label={trans.__('How busy it was in the last minutes')}
            />
            <span className="jp-PaddleGpu-muted jp-PaddleGpu-figures">{figures(device)}</span>
          </span>
        </div>
      ))}
    </>
  );
}
