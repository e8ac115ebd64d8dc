/** What was asked for instead of the notebook's own: each wish in words, and how it is taken back. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IEstimateRequest } from '../domain';
import type { Training } from '../models/training';
import { Button } from './common';
import { useApp } from './context';

export interface IWish {
  label: string;
  /** What has to be asked for without it. */
  undo: IEstimateRequest;
  /** It answers a question of the notebook. */
  isAnswer?: boolean;
  /** A job is run with it too; all others are of the estimate alone. */
  runs?: boolean;
}

export function wishesOf(training: Training, trans: TranslationBundle): IWish[] {
  const { request, facts } = training;
  const { amp, answers = {} } = request;
  const wishes: IWish[] = [];
  if (request.batch_size && request.batch_size !== facts?.batch_size?.value) {
    wishes.push({
      label: trans.__('with batch %1', request.batch_size),
      undo: { batch_size: null },
      runs: true
    });
  }
  if (amp) {
    wishes.push({
      label:
        amp === 'off'
          ? trans.__('without mixed precision')
          : trans.__('with mixed precision %1', amp),
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
  if (request.set_to_zero === false) {
    wishes.push({
      label: trans.__('with gradients freed'),
      undo: { set_to_zero: null }
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
  for (const [name, value] of Object.entries(answers)) {
    const others = Object.entries(answers).filter(([key]) => key !== name);
    wishes.push({
      label: `${name} = ${String(value)}`,
      undo: { answers: Object.fromEntries(others) },
      isAnswer: true,
      runs: true
    });
  }
  return wishes;
}

/** The wishes beside the number that they lead to. */
export function Wishes({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const wishes = wishesOf(training, trans);
  if (!wishes.length) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-chips">
      {wishes.map(wish => (
        <span className="jp-PaddleGpu-chip jp-mod-wish" key={wish.label}>
          <span className="jp-PaddleGpu-name" title={wish.label}>
            {wish.label}
          </span>
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
