/** Everything that is known of a job, for those who want to know. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { BY_24_HOURS, bytes, duration, percent } from '../../format';
import type { JobView } from '../../models/job/jobView';
import { deviceCalled, isScript } from '../../models/jobs/runs';
import { useApp } from '../common/context';
import { Exports } from './exports';
import { FactRows } from './factRows';

export function Details({ model, job }: { model: JobView; job: IJob }): JSX.Element {
  /** What the job used in all, where that is known. */
  const summary = model.statistics.value?.summary;
  const { trans, language, engineTitle } = useApp();
  const { result, spec } = job;
  const time = (value: number | null) =>
    value === null
      ? ''
      : new Date(value * 1000).toLocaleString(language || undefined, BY_24_HOURS);
  const some = (value: number | null | undefined, format: (value: number) => string = bytes) =>
    value ? format(value) : '';
  const pairs = (values: Record<string, unknown>) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join('\n');
  const rows: [string, string][] = [
    [trans.__('Job'), job.id],
    [isScript(job) ? trans.__('Script') : trans.__('Notebook'), spec.notebook],
    [trans.__('Executed copy'), spec.output],
    [trans.__('Where'), engineTitle(spec.engine)],
    [trans.__('Image'), spec.image],
    [trans.__('Kernel'), spec.kernel_name],
    [trans.__('Python'), spec.python],
    [trans.__('Paddle'), result?.paddle_version ?? ''],
    [
      trans.__('Devices'),
      job.device_ids
        .map(id => (id in job.device_names ? `${deviceCalled(job, id)} · ${id}` : id))
        .join('\n')
    ],
    [
      isScript(job) ? trans.__('Set in the script') : trans.__('Set in the notebook'),
      pairs(spec.sets)
    ],
    [trans.__('Environment'), pairs(spec.environment)],
    [trans.__('Submitted'), time(job.created)],
    [trans.__('Started'), time(job.started)],
    [trans.__('Ended'), time(job.ended)],
    [
      trans.__('Run time'),
      result?.seconds !== null && result?.seconds !== undefined
        ? duration(result.seconds, trans)
        : ''
    ],
    [
      trans.__('Exit status'),
      result?.exit_code !== null && result?.exit_code !== undefined
        ? String(result.exit_code)
        : ''
    ],
    [trans.__('Processor time'), some(summary?.cpu_seconds, value => duration(value, trans))],
    [trans.__('Processors on average'), some(summary?.cpu_mean_percent, percent)],
    [trans.__('Read from disks'), some(summary?.read_bytes)],
    [trans.__('Written to disks'), some(summary?.written_bytes)],
    [trans.__('Received over the network'), some(summary?.received_bytes)],
    [trans.__('Sent over the network'), some(summary?.sent_bytes)],
    [trans.__('Submitted anyway'), spec.insisted?.message ?? ''],
    [trans.__('Limits'), (spec.limits?.why ?? []).map(why => why.message).join('\n')],
    [trans.__('Attempts'), job.attempts > 1 ? String(job.attempts) : ''],
    [trans.__('Re-run of'), spec.rerun_of]
  ];
  return (
    <div className="jp-PaddleGpu-details">
      <dl>
        <FactRows rows={rows} />
      </dl>
      <h2>{trans.__('Export')}</h2>
      <Exports model={model} />
      {result?.failure?.traceback && (
        <>
          <h2>{trans.__('Traceback')}</h2>
          <pre role="region" aria-label={trans.__('Traceback')} tabIndex={0}>
            {result.failure.traceback}
          </pre>
        </>
      )}
    </div>
  );
}
