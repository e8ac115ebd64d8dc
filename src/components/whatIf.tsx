/** What if: other sizes than the notebook's own, asked for and taken back. */

import * as React from 'react';

import type { IEstimate, IEstimateRequest } from '../domain';
import type { Training } from '../models/training';
import { Button } from './common';
import { useApp } from './context';
import { wishesOf } from './wishes';

/** Wishes that are whole numbers, in the order of their fields. */
const NUMBERS = ['batch_size', 'image_size', 'sequence_length', 'devices'] as const;

const LEVELS = ['O1', 'O2'] as const;

type NumberWish = (typeof NUMBERS)[number];

/** Fields for what can be asked of this training, folded away until somebody wonders. */
export function WhatIf(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const { request } = training;
  const asked = wishesOf(training, trans).filter(wish => !wish.isAnswer);
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
  if (!shown.length || (estimate.status !== 'ok' && !asked.length)) {
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
    const numbers = Object.fromEntries(NUMBERS.map(name => [name, null]));
    const undone: IEstimateRequest[] = [numbers, ...asked.map(wish => wish.undo)];
    void training.ask(Object.assign({}, ...undone) as IEstimateRequest);
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
          {asked.length > 0 && (
            <Button look="link" onClick={reset} disabled={training.isEstimating}>
              {trans.__('As in the notebook')}
            </Button>
          )}
        </div>
      </form>
    </details>
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
