/** Whether a training fits a card, in a few words; the whole sentence behind them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IVerdict } from '../../domain';
import { bytes, group } from '../../format';
import { useApp } from '../common/context';
import { Info } from '../common/info';
import { stepTime } from './words';

const SIGNS = { fits: '✓', tight: '≈', short: '✕', never: '✕', unknown: '?' } as const;

export function Sentence({ verdict }: { verdict?: IVerdict }): JSX.Element | null {
  const { trans } = useApp();
  if (!verdict) {
    return null;
  }
  const { fit, reason } = verdict;
  const short = inShort(verdict, trans);
  return (
    <div className="jp-PaddleGpu-row jp-PaddleGpu-small jp-PaddleGpu-verdict">
      <span className={`jp-PaddleGpu-fit jp-mod-${fit}`} title={reason.message}>
        <span aria-hidden="true">{SIGNS[fit]} </span>
        {short || reason.message}
      </span>
      {short && reason.hint && <Info about={short}>{`${reason.message} ${reason.hint}`}</Info>}
      <span className="jp-PaddleGpu-space" />
      <span className="jp-PaddleGpu-muted jp-PaddleGpu-figures">{figure(verdict, trans)}</span>
    </div>
  );
}

/** `49.6 GiB to spare`; empty where only the server's own sentence says it. */
function inShort(verdict: IVerdict, trans: TranslationBundle): string {
  const { fit, free_bytes, needed_bytes, missing_bytes } = verdict;
  if (fit === 'fits' && free_bytes !== null && needed_bytes !== null) {
    return trans.__('%1 to spare', bytes(Math.max(0, free_bytes - needed_bytes)));
  }
  if ((fit === 'short' || fit === 'never') && missing_bytes) {
    return trans.__('%1 short', bytes(missing_bytes));
  }
  return fit === 'tight' ? trans.__('tight') : '';
}

/** The time of a step where it fits, else the batch with which it would. */
function figure(verdict: IVerdict, trans: TranslationBundle): string {
  const { fit, largest_batch, seconds_per_step } = verdict;
  if (fit === 'short' || fit === 'never') {
    return largest_batch === null ? '' : trans.__('up to batch %1', group(largest_batch));
  }
  return seconds_per_step === null
    ? ''
    : trans.__('≥ %1 a step', stepTime(seconds_per_step, trans));
}
