/** One device: a line with its use, a bar with what it holds, a line with whether this fits and who holds it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type {
  IDevice,
  IDeviceScore,
  IEstimate,
  IHostSample,
  IMessage,
  IVerdict
} from '../../domain';
import { bytes } from '../../format';
import type { PanelModel } from '../../models/panel';
import { Sparkline } from '../../plots';
import { useApp } from '../common/context';
import { Info, NO_BREAK } from '../common/info';
import { Bar, type IBarPart, Row } from '../common/pieces';
import { Sentence } from './sentence';
import { Unchecked } from './unchecked';
import { details, deviceName, figures, shortName } from './words';

/** Samples with which a course begins to say something. */
const LEAST_SAMPLES = 2;

export function Device(props: {
  device: IDevice;
  /** Whether it follows one of the same name, which need not be read again. */
  follows?: boolean;
  estimate: IEstimate | null;
  verdict?: IVerdict;
  score?: IDeviceScore;
  chosen: boolean;
  model: PanelModel;
}): JSX.Element {
  const { trans } = useApp();
  const { device, estimate, chosen, model, follows } = props;
  // Without an estimate there is nothing to say of any device; a device's own problem is told once.
  const silent =
    props.verdict?.fit === 'unknown' && (!!device.problem || estimate?.status !== 'ok');
  const verdict = silent ? undefined : props.verdict;
  const need = verdict?.needed_bytes ?? estimate?.peak_bytes ?? null;
  const course = model.courses.utilization(device.id);
  const name = deviceName(device, trans);
  const holder = holderOf(device, model, trans);
  // Who fills it is why it is short, and stands beside that.
  const isFull = verdict?.fit === 'short';
  if (device.problem?.message.startsWith(name) && device.memory_total === null) {
    return (
      <div className="jp-PaddleGpu-device" data-fit="unknown" title={device.name}>
        <Problem problem={device.problem} />
      </div>
    );
  }
  return (
    <div className="jp-PaddleGpu-device" data-fit={verdict?.fit ?? 'unknown'}>
      <div className="jp-PaddleGpu-row" title={device.name}>
        <b>{name}</b>
        <span className="jp-PaddleGpu-name jp-PaddleGpu-cardName">
          {!follows && shortName(device)}
        </span>
        {chosen && (
          <span
            className="jp-PaddleGpu-tag jp-mod-ok"
            title={trans.__('The job would run here')}
          >
            {trans.__('chosen')}
          </span>
        )}
        {course.length >= LEAST_SAMPLES && (
          <Sparkline
            values={course}
            low={0}
            high={100}
            width={44}
            label={trans.__('How busy it was in the last minutes')}
          />
        )}
        <span
          className="jp-PaddleGpu-muted jp-PaddleGpu-figures"
          title={
            device.simulated ? '' : [figures(device), details(device, trans)].join('\n').trim()
          }
        >
          {device.utilization === null ? '' : `${device.utilization} %`}
        </span>
      </div>
      {device.memory_total !== null && (
        <MemoryBar device={device} total={device.memory_total} need={need} verdict={verdict} />
      )}
      <Sentence verdict={verdict} score={props.score} holder={isFull ? holder : null} />
      {device.fault && (
        <div className="jp-PaddleGpu-small" role="note">
          {trans.__('The driver reported an error of this card: %1', device.fault)}
        </div>
      )}
      {!verdict && device.memory_total !== null && (
        <div className="jp-PaddleGpu-muted jp-PaddleGpu-small">
          {trans.__('%1 of %2 free', bytes(device.memory_free), bytes(device.memory_total))}
        </div>
      )}
      <Unchecked device={device} />
      {holder && !isFull && (
        <div
          className="jp-PaddleGpu-muted jp-PaddleGpu-small jp-PaddleGpu-name"
          title={holder.title}
        >
          {holder.text}
        </div>
      )}
      {device.problem && <Problem problem={device.problem} />}
    </div>
  );
}

function Problem({ problem }: { problem: IMessage }): JSX.Element {
  return (
    <div className="jp-PaddleGpu-small" role="note" data-code={problem.code}>
      {problem.message}
      {NO_BREAK}
      {problem.hint && <Info about={problem.message}>{problem.hint}</Info>}
    </div>
  );
}

/** Who has a device, in words: the job that was given it, else the person and the program that have most of its
 *  memory; null where nobody does. */
function holderOf(
  device: IDevice,
  model: PanelModel,
  trans: TranslationBundle
): { text: string; title?: string } | null {
  const [first] = [...device.processes].sort(
    (a, b) => (b.memory_bytes ?? 0) - (a.memory_bytes ?? 0)
  );
  const [holder, ...others] = device.holder ? [device.holder] : device.sharers;
  if (!first && !holder) {
    return null;
  }
  const job = first?.job_id ? model.jobs.get(first.job_id) : undefined;
  const program = first?.command?.split(/\s/)[0].split('/').pop() ?? '';
  const words = holder
    ? [
        holder.owner,
        holder.name || trans.__('Job %1', holder.job.split('-').pop() ?? ''),
        holder.bytes === null ? '' : bytes(holder.bytes)
      ]
    : [first.user, job?.spec.name ?? program];
  const rest = holder ? others.length : device.processes.length - 1;
  const more = rest > 0 ? ` ${trans.__('and %1 more', rest)}` : '';
  return {
    text: words.filter(Boolean).join(' · ') + more,
    title: first
      ? [bytes(first.memory_bytes), first.command].filter(Boolean).join(' · ')
      : undefined
  };
}

/** The machine itself: always there, also where no accelerator is. */
export function Host(props: {
  host: IHostSample;
  estimate: IEstimate | null;
  /** Whether the training goes to a device beside it: then what is free is enough. */
  besides?: boolean;
}): JSX.Element {
  const { trans } = useApp();
  const { host, estimate, besides } = props;
  const used = host.memory_total - host.memory_available;
  const need = estimate?.target === 'cpu' ? estimate.peak_bytes : null;
  const share = (size: number) => (100 * size) / host.memory_total;
  return (
    <div className="jp-PaddleGpu-device">
      <Row wrap>
        <b>{trans.__('This machine')}</b>
        <span
          className="jp-PaddleGpu-name jp-PaddleGpu-muted"
          title={trans._n('%1 CPU', '%1 CPUs', host.cpu_count)}
        >
          {trans.__('%1 free', bytes(host.memory_available))}
        </span>
        <span
          className="jp-PaddleGpu-muted jp-PaddleGpu-figures"
          title={trans.__('How busy the processors are')}
        >
          <span className="jp-mod-unit">{trans.__('CPU')} </span>
          {`${Math.round(host.cpu_percent)} %`}
        </span>
      </Row>
      {(need !== null || !besides) && (
        <Bar
          label={trans.__('%1 of %2 in use', bytes(used), bytes(host.memory_total))}
          parts={[
            { share: share(used), look: 'used' },
            ...(need === null
              ? []
              : [
                  {
                    share: Math.min(share(need), 100 - share(used)),
                    look: need > host.memory_available ? 'short' : 'need'
                  }
                ])
          ]}
        />
      )}
    </div>
  );
}

/** What of a device's memory is in use, and what a training would have of it. */
export function MemoryBar(props: {
  device: IDevice;
  total: number;
  need: number | null;
  verdict?: IVerdict;
}): JSX.Element {
  const { trans } = useApp();
  const { device, total, need, verdict } = props;
  return (
    <Bar
      label={trans.__('%1 of %2 in use', bytes(device.memory_used), bytes(total))}
      parts={barParts(device.memory_used ?? 0, total, need, verdict, trans)}
    />
  );
}

function barParts(
  used: number,
  total: number,
  need: number | null,
  verdict: IVerdict | undefined,
  trans: TranslationBundle
): IBarPart[] {
  const share = (size: number) => (100 * size) / total;
  const bar: IBarPart[] = [
    { share: share(used), look: 'used', title: trans.__('in use: %1', bytes(used)) }
  ];
  if (need !== null) {
    const short = verdict?.fit === 'short' || verdict?.fit === 'never';
    bar.push({
      share: Math.min(share(need), 100 - share(used)),
      look: short ? 'short' : verdict?.simulated ? 'simulated' : 'need',
      title: trans.__('this training: %1', bytes(need))
    });
  }
  return bar;
}
