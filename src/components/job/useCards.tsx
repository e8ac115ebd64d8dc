/** What a job uses over time, a chart for each: memory with its estimate, use of devices and processors. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import { bytes, duration, percent, stopwatch } from '../../format';
import { endOf, epochMarks } from '../../models/job/curves';
import type { JobView } from '../../models/job/jobView';
import { curves, type ICurve } from '../../models/job/statistics';
import { BYTE_STEPS, CLOCK_STEPS, LineChart } from '../../plots';
import { useApp } from '../common/context';
import { Busy, Button, Muted } from '../common/pieces';
import { Card } from './card';

/** What is asked first stands first: the devices, then the machine. */
const ORDER: ICurve['what'][] = ['device_memory', 'utilization', 'memory', 'cpu'];

export function UseCards(props: {
  model: JobView;
  job: IJob;
  /** Those alone; by default all. */
  of?: readonly ICurve['what'][];
}): JSX.Element {
  const { trans } = useApp();
  const { model, job, of = ORDER } = props;
  const { value, error } = model.statistics;
  const start = job.started ?? job.created;
  const drawn = React.useMemo(
    () =>
      curves(value?.points ?? [], start)
        .filter(({ what }) => of.includes(what))
        .sort((a, b) => ORDER.indexOf(a.what) - ORDER.indexOf(b.what)),
    [value, start]
  );
  if (!drawn.length) {
    return (
      <Card title={trans.__('Memory and processors')}>
        {error ? (
          <p role="alert">
            {error.message}{' '}
            <Button look="link" onClick={() => model.statistics.retry()}>
              {trans.__('Try again')}
            </Button>
          </p>
        ) : !value ? (
          <Busy>{trans.__('Looking what the job uses…')}</Busy>
        ) : (
          <Muted as="p">
            {isEnded(job.state)
              ? trans.__('Nothing was recorded: the job ended before its use could be seen.')
              : trans.__('Memory and utilization are drawn here as soon as the job runs.')}
          </Muted>
        )}
      </Card>
    );
  }
  return (
    <>
      {drawn.map(curve => (
        <UseCard key={`${curve.what} ${curve.device}`} curve={curve} job={job} model={model} />
      ))}
    </>
  );
}

function UseCard(props: { curve: ICurve; job: IJob; model: JobView }): JSX.Element {
  const { trans } = useApp();
  const { curve, job, model } = props;
  const isMemory = curve.what === 'memory' || curve.what === 'device_memory';
  const format = isMemory ? bytes : percent;
  const name = curveName(curve, job.device_ids.length > 1, trans);
  const start = job.started ?? job.created;
  const metrics = model.metrics.value;
  const estimated = curve.what === 'device_memory' ? job.spec.estimated_peak_bytes : null;
  const series = React.useMemo(
    () => [
      {
        name,
        x: curve.moments.map(({ seconds }) => seconds),
        y: curve.moments.map(({ value }) => value),
        color: isMemory ? 2 : 3
      }
    ],
    [curve, name]
  );
  const marks = React.useMemo(() => epochMarks(metrics, start, trans), [metrics, start]);
  const limits = React.useMemo(
    () =>
      estimated
        ? [{ value: estimated, label: trans.__('estimated %1', bytes(estimated)) }]
        : undefined,
    [estimated]
  );
  const known = curve.moments.flatMap(({ value }) => (value === null ? [] : [value]));
  const most = known.reduce((a, b) => Math.max(a, b));
  return (
    <Card
      title={name}
      aside={
        <b
          className="jp-PaddleGpu-figures"
          title={isEnded(job.state) ? trans.__('highest') : trans.__('now')}
        >
          {format(isEnded(job.state) ? most : known[known.length - 1])}
        </b>
      }
    >
      <LineChart
        label={trans.__(
          '%1 over %2: last %3, highest %4',
          name,
          duration(curve.moments[curve.moments.length - 1].seconds, trans),
          format(known[known.length - 1]),
          format(most)
        )}
        series={series}
        limits={limits}
        marks={marks}
        sync={`job ${job.id}`}
        end={endOf(job, model.last)}
        low={0}
        high={curve.what === 'utilization' ? 100 : undefined}
        stepsX={CLOCK_STEPS}
        stepsY={isMemory ? BYTE_STEPS : undefined}
        formatX={stopwatch}
        formatY={format}
      />
    </Card>
  );
}

function curveName(curve: ICurve, several: boolean, trans: TranslationBundle): string {
  const name = {
    memory: trans.__('Host memory'),
    cpu: trans.__('Processors (100 % for one)'),
    device_memory: trans.__('GPU memory'),
    utilization: trans.__('GPU utilization')
  }[curve.what];
  return several && curve.device >= 0
    ? trans.__('%1, device %2 of the job', name, curve.device + 1)
    : name;
}
