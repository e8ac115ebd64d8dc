/** What if: other sizes than the notebook's own, asked for and taken back. */

import * as React from 'react';

import type { IEstimate, IEstimateRequest } from '../domain';
import type { Training } from '../models/training';
import { Button } from './common';
import { useApp } from './context';

/** Wishes that are whole numbers, in the order of their fields. */
const NUMBERS = ['batch_size', 'image_size', 'sequence_length', 'devices'] as const;

const LEVELS = ['O1', 'O2'] as const;

type NumberWish = (typeof NUMBERS)[number];

/** Fields for what can be asked of this training, folded away until somebody wonders. */
export function WhatIf(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const { request } = training;
  const kind = training.facts?.distribution?.value;
  const spreads = (name: NumberWish) => name === 'devices' && !!kind && kind !== 'none';
  const shown = NUMBERS.filter(
    name => own(estimate, name) !== '' || request[name] || spreads(name)
  );
  // The notebook's own sizes stay readable while others are asked for.
  const known = React.useRef<Partial<Record<NumberWish, string>>>({});
  for (const name of NUMBERS) {
    if (!request[name] && !training.isEstimating) {
      known.current[name] = own(estimate, name) || (spreads(name) ? '1' : '');
    }
  }
  const wished = wishedNumbers(request);
  const [values, setValues] = React.useState(wished);
  // A wish that was made or taken back elsewhere, as by an advice.
  const told = JSON.stringify([wished, request.amp ?? '']);
  const [amp, setAmp] = React.useState<string>(request.amp ?? '');
  React.useEffect(() => {
    setValues(wishedNumbers(training.request));
    setAmp(training.request.amp ?? '');
  }, [training, told]);
  if (!shown.length || (estimate.status !== 'ok' && !hasWish(request))) {
    return null;
  }
  const labels: Record<NumberWish, string> = {
    batch_size: trans.__('Batch size'),
    image_size: trans.__('Images, pixels a side'),
    sequence_length: trans.__('Sequence length'),
    devices: trans.__('Devices that train together')
  };
  const changed = JSON.stringify([values, amp]) !== told;
  const ask = () => {
    const numbers = NUMBERS.map(name => [name, values[name] ? Number(values[name]) : null]);
    void training.ask({
      ...(Object.fromEntries(numbers) as IEstimateRequest),
      amp: (amp || null) as IEstimateRequest['amp'],
      ...(amp ? {} : { amp_dtype: null })
    });
  };
  const reset = () => {
    const none = Object.fromEntries(NUMBERS.map(name => [name, null])) as IEstimateRequest;
    const rest = { amp: null, amp_dtype: null, recompute: null, accumulation: null };
    void training.ask({ ...none, ...rest });
  };
  return (
    <details className="jp-PaddleGpu-whatIf">
      <summary>{trans.__('What if…')}</summary>
      <form
        onSubmit={event => {
          event.preventDefault();
          ask();
        }}
      >
        {shown.map(name => (
          <label key={name}>
            <span>{labels[name]}</span>
            <input
              className="jp-PaddleGpu-input"
              type="number"
              min={1}
              step={1}
              value={values[name]}
              placeholder={known.current[name]}
              onChange={event => setValues({ ...values, [name]: event.target.value })}
            />
          </label>
        ))}
        <label>
          <span>{trans.__('Mixed precision')}</span>
          <select
            className="jp-PaddleGpu-input"
            value={amp}
            onChange={event => setAmp(event.target.value)}
          >
            <option value="">{trans.__('unchanged')}</option>
            <option value="off">{trans.__('off')}</option>
            {LEVELS.map(level => (
              <option key={level} value={level}>
                {level}
              </option>
            ))}
          </select>
        </label>
        <div className="jp-PaddleGpu-actions">
          <button
            type="submit"
            className="jp-PaddleGpu-button jp-mod-quiet"
            disabled={training.isEstimating || !changed}
          >
            {trans.__('Estimate with these')}
          </button>
          {hasWish(request) && (
            <Button look="link" onClick={reset} disabled={training.isEstimating}>
              {trans.__('As in the notebook')}
            </Button>
          )}
        </div>
      </form>
    </details>
  );
}

/** What-if wishes that differ from the notebook, each to be taken back. */
export function Wishes({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { request } = training;
  const wishes: { label: string; undo: object }[] = [];
  if (request.batch_size) {
    wishes.push({
      label: trans.__('with batch %1', request.batch_size),
      undo: { batch_size: null }
    });
  }
  if (request.amp) {
    wishes.push({
      label:
        request.amp === 'off'
          ? trans.__('without mixed precision')
          : trans.__('with mixed precision %1', request.amp),
      undo: { amp: null, amp_dtype: null }
    });
  }
  if (request.recompute) {
    wishes.push({ label: trans.__('with recompute'), undo: { recompute: null } });
  }
  if (request.accumulation) {
    wishes.push({
      label: trans.__('with %1 steps accumulated', request.accumulation),
      undo: { accumulation: null }
    });
  }
  if (request.image_size) {
    wishes.push({
      label: trans.__('with images of %1 × %1 pixels', request.image_size),
      undo: { image_size: null }
    });
  }
  if (request.sequence_length) {
    wishes.push({
      label: trans.__('with sequences of length %1', request.sequence_length),
      undo: { sequence_length: null }
    });
  }
  if (request.devices) {
    wishes.push({
      label: trans._n('on %1 device', 'on %1 devices', request.devices),
      undo: { devices: null }
    });
  }
  for (const [name, value] of Object.entries(request.answers ?? {})) {
    const answers = Object.fromEntries(
      Object.entries(request.answers ?? {}).filter(([key]) => key !== name)
    );
    wishes.push({ label: `${name} = ${String(value)}`, undo: { answers } });
  }
  if (!wishes.length) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-chips">
      {wishes.map(wish => (
        <span className="jp-PaddleGpu-chip jp-mod-wish" key={wish.label}>
          {wish.label}
          <Button
            look="link"
            aria-label={trans.__('Take back: %1', wish.label)}
            onClick={() => void training.ask(wish.undo)}
          >
            ×
          </Button>
        </span>
      ))}
    </div>
  );
}

/** What the notebook has, as far as the last estimate tells; empty where the question makes no sense. */
function own(estimate: IEstimate, name: NumberWish): string {
  switch (name) {
    case 'batch_size':
      return String(estimate.batch_size ?? '');
    case 'image_size':
      return String(estimate.image_size?.[0] ?? '');
    case 'sequence_length':
      return String(estimate.sequence_length ?? '');
    case 'devices':
      return String(estimate.devices ?? '');
  }
}

function wishedNumbers(request: IEstimateRequest): Record<NumberWish, string> {
  const pairs = NUMBERS.map(name => [name, String(request[name] ?? '')]);
  return Object.fromEntries(pairs) as Record<NumberWish, string>;
}

function hasWish(request: IEstimateRequest): boolean {
  const { amp, recompute, accumulation } = request;
  return NUMBERS.some(name => request[name]) || !!amp || !!recompute || !!accumulation;
}
