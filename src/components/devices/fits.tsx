/** Where it fits: this machine's devices as they are now, the machine itself, and known accelerators for what-if. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IDevice, IEstimate, IHostSample, IVerdict } from '../../domain';
import { bytes, duration, group } from '../../format';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/training';
import { Bar, Busy, Button, type IBarPart, Note, Section } from '../common/pieces';
import { useApp } from '../common/context';

/** Known accelerators that are shown before somebody asks for all. */
const SHOWN = 5;

export function Fits(props: { model: PanelModel; training: Training | null }): JSX.Element {
  const { trans } = useApp();
  const { model, training } = props;
  const inventory = training ? model.devicesOf(model.engineOf(training)) : model.inventory;
  const placement = training?.placement ?? null;
  const estimate = training?.estimate ?? null;
  return (
    <Section title={trans.__('Where it fits')}>
      {!inventory && <Busy>{trans.__('Looking for devices…')}</Busy>}
      {inventory?.devices.map(device => (
        <Device
          key={device.id}
          device={device}
          estimate={estimate}
          verdict={placement?.verdicts.find(verdict => verdict.device_id === device.id)}
          chosen={!!placement?.device_ids.includes(device.id)}
        />
      ))}
      {model.inventory && <Host host={model.inventory.host} estimate={estimate} />}
      {inventory?.problems.map((problem, index) => (
        <Note key={index} kind="info" message={problem} />
      ))}
      {placement?.catalogue.some(({ fit }) => fit !== 'unknown') && (
        <Catalogue verdicts={placement.catalogue} />
      )}
      {training && model.accelerators.length > 0 && (
        <Target model={model} training={training} />
      )}
    </Section>
  );
}

function Device(props: {
  device: IDevice;
  estimate: IEstimate | null;
  verdict?: IVerdict;
  chosen: boolean;
}): JSX.Element {
  const { trans } = useApp();
  const { device, estimate, chosen } = props;
  // Without an estimate there is nothing to say of any device; a device's own problem is told once.
  const silent =
    props.verdict?.fit === 'unknown' && (!!device.problem || estimate?.status !== 'ok');
  const verdict = silent ? undefined : props.verdict;
  const need = verdict?.needed_bytes ?? estimate?.peak_bytes ?? null;
  return (
    <div className="jp-PaddleGpu-device" data-fit={verdict?.fit ?? 'unknown'}>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-wrap">
        {/* A simulated card beside a real one of the same number is told apart. */}
        <b>
          {device.simulated
            ? trans.__('Simulated %1', device.index)
            : trans.__('GPU %1', device.index)}
        </b>
        <span className="jp-PaddleGpu-name jp-PaddleGpu-card" title={device.name}>
          {shortName(device.name)}
        </span>
        {chosen && <span className="jp-PaddleGpu-tag jp-mod-ok">{trans.__('chosen')}</span>}
        {device.simulated && <span className="jp-PaddleGpu-tag">{trans.__('simulated')}</span>}
        {!device.checked && (
          <span className="jp-PaddleGpu-tag">{trans.__('not checked on hardware')}</span>
        )}
        <span
          className="jp-PaddleGpu-muted jp-PaddleGpu-figures"
          title={trans.__('How busy it is, its temperature, its power')}
        >
          {figures(device)}
        </span>
      </div>
      {device.memory_total !== null && (
        <Bar
          label={trans.__(
            '%1 of %2 in use',
            bytes(device.memory_used),
            bytes(device.memory_total)
          )}
          parts={parts(device.memory_used ?? 0, device.memory_total, need, verdict, trans)}
        />
      )}
      <Sentence verdict={verdict} />
      {!verdict && device.memory_total !== null && (
        <div className="jp-PaddleGpu-muted jp-PaddleGpu-small">
          {trans.__('%1 of %2 free', bytes(device.memory_free), bytes(device.memory_total))}
        </div>
      )}
      {device.problem && <Note kind="info" message={device.problem} />}
    </div>
  );
}

/** The machine itself: always there, also where no accelerator is. */
function Host(props: { host: IHostSample; estimate: IEstimate | null }): JSX.Element {
  const { trans } = useApp();
  const { host, estimate } = props;
  const used = host.memory_total - host.memory_available;
  const need = estimate?.target === 'cpu' ? estimate.peak_bytes : null;
  const share = (size: number) => (100 * size) / host.memory_total;
  return (
    <div className="jp-PaddleGpu-device">
      <div className="jp-PaddleGpu-row jp-PaddleGpu-wrap">
        <b>{trans.__('This machine')}</b>
        <span className="jp-PaddleGpu-name">
          {trans._n('%1 CPU', '%1 CPUs', host.cpu_count)}
        </span>
        <span
          className="jp-PaddleGpu-muted jp-PaddleGpu-figures"
          title={trans.__('How busy the processors are')}
        >
          {Math.round(host.cpu_percent)} %
        </span>
      </div>
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
      <div className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {trans.__(
          '%1 of %2 memory free',
          bytes(host.memory_available),
          bytes(host.memory_total)
        )}
      </div>
    </div>
  );
}

function Sentence({ verdict }: { verdict?: IVerdict }): JSX.Element | null {
  const { trans } = useApp();
  if (!verdict) {
    return null;
  }
  const { fit, largest_batch } = verdict;
  const batch = largest_batch === null ? '' : group(largest_batch);
  const more = [
    batch && (fit === 'fits' || fit === 'tight') ? trans.__('up to batch %1', batch) : '',
    batch && fit === 'short' ? trans.__('up to batch %1 once it is free', batch) : '',
    verdict.seconds_per_step !== null
      ? trans.__('≥ %1 a step', stepTime(verdict.seconds_per_step, trans))
      : ''
  ].filter(Boolean);
  return (
    <div className="jp-PaddleGpu-row jp-PaddleGpu-small jp-PaddleGpu-wrap jp-PaddleGpu-verdict">
      <span className={`jp-PaddleGpu-fit jp-mod-${fit}`}>
        <span aria-hidden="true">{SIGNS[fit]} </span>
        {verdict.reason.message}
      </span>
      {(fit === 'short' || fit === 'tight') && verdict.reason.hint && (
        <span className="jp-PaddleGpu-muted jp-PaddleGpu-hint">{verdict.reason.hint}</span>
      )}
      {more.length > 0 && (
        <span className="jp-PaddleGpu-muted jp-PaddleGpu-dots">
          {more.map(part => (
            <span key={part}>{part}</span>
          ))}
        </span>
      )}
    </div>
  );
}

/** Verdicts against accelerators that are not here. */
function Catalogue({ verdicts }: { verdicts: IVerdict[] }): JSX.Element {
  const { trans } = useApp();
  const [all, setAll] = React.useState(false);
  const shown = all ? verdicts : verdicts.slice(0, SHOWN);
  return (
    <div className="jp-PaddleGpu-catalogue">
      <h3>{trans.__('On cards that are not here')}</h3>
      <ul>
        {shown.map(verdict => (
          <li key={verdict.device_id || verdict.device_name} data-fit={verdict.fit}>
            <div className="jp-PaddleGpu-row">
              <span className="jp-PaddleGpu-name" title={verdict.device_name}>
                {shortName(verdict.device_name)}
              </span>
              <span className="jp-PaddleGpu-space" />
              {verdict.free_bytes !== null && (
                <span className="jp-PaddleGpu-muted">{bytes(verdict.free_bytes)}</span>
              )}
            </div>
            <Sentence verdict={verdict} />
          </li>
        ))}
      </ul>
      {verdicts.length > SHOWN && (
        <Button look="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all
            ? trans.__('Show fewer')
            : trans._n('Show %1 more', 'Show %1 more', verdicts.length - SHOWN)}
        </Button>
      )}
    </div>
  );
}

/** Which device the estimate is for. */
function Target(props: { model: PanelModel; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { model, training } = props;
  const { request } = training;
  const id = React.useId();
  const hasGpu = !!model.inventory?.devices.length;
  const value = request.target === 'cpu' ? 'cpu' : (request.device ?? '');
  const choose = (chosen: string) => {
    const change =
      chosen === 'cpu'
        ? { target: 'cpu' as const, device: null }
        : { target: 'gpu' as const, device: chosen || null };
    if (training.estimate) {
      void training.ask(change);
    } else {
      training.prepare(change);
    }
  };
  return (
    <div className="jp-PaddleGpu-row jp-PaddleGpu-target">
      <label htmlFor={id}>{trans.__('Estimate for')}</label>
      <select
        id={id}
        className="jp-PaddleGpu-input"
        value={value}
        disabled={training.isEstimating}
        onChange={event => choose(event.target.value)}
      >
        <option value="">{hasGpu ? trans.__('best device here') : trans.__('any GPU')}</option>
        <option value="cpu">{trans.__('CPU of this machine')}</option>
        <optgroup label={trans.__('Known accelerators')}>
          {model.accelerators.map(card => (
            <option key={card.name} value={card.name}>
              {`${shortName(card.name)} · ${bytes(card.memory_bytes)}`}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}

const SIGNS = { fits: '✓', tight: '≈', short: '✕', never: '✕', unknown: '?' } as const;

function parts(
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

function figures(device: IDevice): string {
  return [
    device.utilization === null ? '' : `${device.utilization} %`,
    device.temperature === null ? '' : `${device.temperature} °C`,
    device.power === null ? '' : `${Math.round(device.power)} W`
  ]
    .filter(Boolean)
    .join(' · ');
}

/** A card's name without what every card of its maker is called. */
function shortName(name: string): string {
  return name.replace(/^(NVIDIA|AMD)\s+/i, '').replace(/^GeForce\s+/i, '');
}

function stepTime(seconds: number, trans: TranslationBundle): string {
  return seconds < 1
    ? trans.__('%1 ms', Number((1000 * seconds).toPrecision(2)))
    : duration(seconds, trans);
}
