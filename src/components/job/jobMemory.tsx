/** What was estimated beside what was measured. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  type IJob,
  type IJobResult,
  type IMeasured,
  isEnded,
  measuredPeak
} from '../../domain';
import { bytes } from '../../format';
import { Bar, Muted, Note, Row, Space } from '../common/pieces';
import { useApp } from '../common/context';

interface IRow {
  name: string;
  what: string;
  size: number | null;
  look: string;
}

export function JobMemory({ job }: { job: IJob }): JSX.Element {
  const { trans } = useApp();
  const { result, spec } = job;
  const measured = measuredPeak(result);
  const estimated = spec.estimated_allocated_bytes;
  const rows: IRow[] = [
    {
      name: trans.__('Estimated'),
      what: trans.__('peak of Paddle’s allocator in a training step'),
      size: estimated,
      look: 'parameters'
    },
    {
      name: trans.__('Measured'),
      what: measured ? measuredOver(measured, trans) : '',
      size: measured?.bytes ?? null,
      look: 'activations'
    },
    {
      name: trans.__('Whole run'),
      what: trans.__('peak on the CPU with data sets, validation and the first step'),
      size: measured?.over === 'steps' ? result?.host_allocated_bytes || null : null,
      look: 'inputs'
    },
    {
      name: trans.__('Reserved'),
      what: trans.__('what the allocator held of the device'),
      size: result?.device_reserved_bytes || null,
      look: 'workspace'
    },
    {
      name: trans.__('On the device'),
      what: trans.__('what the driver counted for the job’s processes, context included'),
      size: driverPeak(result),
      look: 'gradients'
    },
    {
      name: trans.__('Process'),
      what: trans.__('highest resident memory of the notebook’s own process'),
      size: result?.process_rss_bytes || null,
      look: 'context'
    },
    {
      name: trans.__('All processes'),
      what: trans.__(
        'peak on the machine, with those that the notebook starts and what the job runs in'
      ),
      size: result?.statistics?.memory_peak_bytes || null,
      look: 'context'
    }
  ];
  const shown = rows.filter(row => row.size !== null);
  const highest = Math.max(...shown.map(row => row.size ?? 0), 1);
  if (!shown.length) {
    return (
      <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted">
        {isEnded(job.state)
          ? trans.__('Nothing was measured: the job ended before Paddle reported its memory.')
          : trans.__('The measured peak is here when the job has ended.')}
      </p>
    );
  }
  return (
    <div className="jp-PaddleGpu-memory">
      {estimated && measured ? (
        <p className="jp-PaddleGpu-answer">
          <span className="jp-PaddleGpu-big">{offBy(estimated, measured.bytes, trans)}</span>
          <Muted>
            {measured.over === 'run'
              ? trans.__(
                  'estimate of a step against the whole run: too few steps to measure one'
                )
              : trans.__('estimate against what Paddle measured')}
          </Muted>
        </p>
      ) : null}
      {shown.map(row => (
        <div key={row.name} className="jp-PaddleGpu-memoryRow">
          <Row>
            <b>{row.name}</b>
            <Muted>{row.what}</Muted>
            <Space />
            <span className="jp-PaddleGpu-figures">{bytes(row.size)}</span>
          </Row>
          <Bar
            label={`${row.name}: ${bytes(row.size)}`}
            parts={[{ share: (100 * (row.size ?? 0)) / highest, look: row.look }]}
          />
        </div>
      ))}
      {result?.notes.map(note => (
        <Note
          key={note.code}
          kind={note.code === 'estimate_was_off' ? 'warning' : 'info'}
          message={note}
        />
      ))}
      {!isEnded(job.state) && (
        <Muted as="p">{trans.__('The measured peak is here when the job has ended.')}</Muted>
      )}
    </div>
  );
}

/** The most that the driver counted on one device. */
function driverPeak(result: IJobResult | null): number | null {
  const peaks = result?.statistics?.devices.map(device => device.memory_peak_bytes ?? 0) ?? [];
  return Math.max(0, ...peaks) || null;
}

function measuredOver(measured: IMeasured, trans: TranslationBundle): string {
  switch (measured.over) {
    case 'device':
      return trans.__('peak of Paddle’s allocator on the device');
    case 'steps':
      return trans.__('peak of a usual training step on the CPU');
    case 'run':
      return trans.__('peak of Paddle’s allocator on the CPU in the whole run');
  }
}

/** How far the estimate is off, with its sign: `+1.2 %`. */
export function offBy(estimated: number, measured: number, trans: TranslationBundle): string {
  const percent = (100 * (estimated - measured)) / measured;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  const rounded = Math.abs(percent).toFixed(digits);
  if (Number(rounded) === 0) {
    return trans.__('as estimated');
  }
  return trans.__('estimate %1', `${percent > 0 ? '+' : '−'}${rounded} %`);
}
