/** What a job uses over time: memory and utilization of its devices, memory and processors of the machine. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IJob, type IStatisticsSummary, isEnded } from '../../domain';
import { bytes, duration } from '../../format';
import type { JobView } from '../../models/jobView';
import { curves, type ICurve } from '../../models/statistics';
import { Chart, most } from '../common/chart';
import { Busy, Button } from '../common/pieces';
import { useApp, useSignal } from '../common/context';

export function JobResources({ model, job }: { model: JobView; job: IJob }): JSX.Element {
  const { trans } = useApp();
  const { statistics } = model;
  useSignal(statistics.changed);
  const running = !isEnded(job.state);
  React.useEffect(() => {
    const look = statistics.look();
    return () => look.dispose();
    // Asked once more when the job ends.
  }, [statistics, running]);
  const { value, error } = statistics;
  const drawn = React.useMemo(() => curves(value?.points ?? []), [value]);
  if (!value) {
    return error ? (
      <div className="jp-PaddleGpu-empty" role="alert">
        {error.message}{' '}
        <Button look="link" onClick={() => statistics.retry()}>
          {trans.__('Try again')}
        </Button>
      </div>
    ) : (
      <Busy>{trans.__('Looking what the job uses…')}</Busy>
    );
  }
  if (!drawn.length) {
    return (
      <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted" role="status">
        {running
          ? trans.__('Memory and utilization are drawn here as soon as the job runs.')
          : trans.__('Nothing was recorded: the job ended before its use could be seen.')}
      </p>
    );
  }
  const several = job.device_ids.length > 1;
  return (
    <>
      <div className="jp-PaddleGpu-curves">
        {drawn.map(curve => (
          <Curve
            key={`${curve.what} ${curve.device}`}
            curve={curve}
            job={job}
            several={several}
          />
        ))}
      </div>
      <Totals summary={value.summary} />
    </>
  );
}

function Curve(props: { curve: ICurve; job: IJob; several: boolean }): JSX.Element {
  const { trans } = useApp();
  const { curve, job, several } = props;
  const isMemory = curve.what === 'memory' || curve.what === 'device_memory';
  const format = isMemory ? bytes : percent;
  const known = curve.moments.flatMap(({ value }) => (value === null ? [] : [value]));
  const whole = curve.moments[curve.moments.length - 1].seconds;
  const name = curveName(curve, several, trans);
  const highest = format(most(known));
  const over = duration(whole, trans);
  const estimated = curve.what === 'device_memory' ? job.spec.estimated_peak_bytes : null;
  return (
    <Chart
      name={name}
      points={curve.moments.map(({ seconds, value }) => ({ x: seconds, value }))}
      label={trans.__(
        '%1 over %2: last %3, highest %4',
        name,
        over,
        format(known[known.length - 1]),
        highest
      )}
      low={0}
      high={curve.what === 'utilization' ? 100 : undefined}
      format={format}
      at={seconds => trans.__('after %1', duration(seconds, trans))}
      mark={
        estimated
          ? { value: estimated, label: trans.__('estimated %1', bytes(estimated)) }
          : undefined
      }
      left={trans.__('highest %1', highest)}
      right={trans.__('over %1', over)}
    />
  );
}

/** What has only a sum. */
function Totals({ summary }: { summary: IStatisticsSummary }): JSX.Element {
  const { trans } = useApp();
  const rows: [string, string][] = [];
  const add = (name: string, value: number | null, format: (value: number) => string) => {
    if (value) {
      rows.push([name, format(value)]);
    }
  };
  add(trans.__('Processor time'), summary.cpu_seconds, value => duration(value, trans));
  add(trans.__('Processors on average'), summary.cpu_mean_percent, percent);
  add(trans.__('Read from disks'), summary.read_bytes, bytes);
  add(trans.__('Written to disks'), summary.written_bytes, bytes);
  add(trans.__('Received over the network'), summary.received_bytes, bytes);
  add(trans.__('Sent over the network'), summary.sent_bytes, bytes);
  return (
    <div className="jp-PaddleGpu-details">
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
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

function percent(value: number): string {
  return `${value.toFixed(value < 9.95 ? 1 : 0)} %`;
}
