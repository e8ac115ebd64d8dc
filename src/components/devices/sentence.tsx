/** Whether a training fits a card, in a few words; the whole sentence behind them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IDeviceScore, IVerdict } from '../../domain';
import { bytes, duration, group, together } from '../../format';
import { useApp } from '../common/context';
import { Info, NO_BREAK } from '../common/info';
import { stepTime } from './words';
import { Space } from '../common/pieces';

/** Seconds in which no step begins: a bound below says nothing of one. */
const LEAST = 1e-5;
const SIGNS = { fits: '✓', tight: '≈', short: '✕', never: '✕', unknown: '?' } as const;

export function Sentence(props: {
  verdict?: IVerdict;
  score?: IDeviceScore;
  /** Who has the device, where that is why it is short. */
  holder?: { text: string; title?: string } | null;
}): JSX.Element | null {
  const { verdict, score, holder } = props;
  const { trans } = useApp();
  if (!verdict) {
    return null;
  }
  const { fit, reason } = verdict;
  const short = inShort(verdict, trans);
  // It has room, and something else speaks against it: of a simulated one its name says so.
  const against = fit === 'fits' || fit === 'tight' ? score?.ruled_out : null;
  return (
    <>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-small jp-PaddleGpu-verdict">
        <span className={`jp-PaddleGpu-fit jp-mod-${fit}`} title={reason.message}>
          <span aria-hidden="true">{SIGNS[fit]} </span>
          {short || reason.message}
        </span>
        {short && reason.hint && (
          <Info about={short}>{together(reason.message, reason.hint)}</Info>
        )}
        <Space />
        <span
          className={`jp-PaddleGpu-muted ${holder ? 'jp-PaddleGpu-name' : 'jp-PaddleGpu-figures'}`}
          title={holder ? holder.title : whole(verdict, score, trans)}
        >
          {holder ? holder.text : figure(verdict, score, trans)}
        </span>
      </div>
      {against && !verdict.simulated && (
        <div className="jp-PaddleGpu-muted jp-PaddleGpu-small" data-code={against.code}>
          {against.message}
          {NO_BREAK}
          {against.hint && <Info about={against.message}>{against.hint}</Info>}
        </div>
      )}
    </>
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

/** The whole run's time and cost where it fits, else a step's; where it does not, the batch with which it would. */
function figure(
  verdict: IVerdict,
  score: IDeviceScore | undefined,
  trans: TranslationBundle
): string {
  const { fit, largest_batch } = verdict;
  if (fit === 'short' || fit === 'never') {
    return largest_batch === null ? '' : trans.__('up to batch %1', group(largest_batch));
  }
  // Of less than a second nothing is known but that it is short.
  if (!score?.run_seconds || score.run_seconds < 1) {
    return stepFigure(verdict, score, trans);
  }
  const run = duration(score.run_seconds, trans);
  const time =
    score.seconds_from === 'roofline'
      ? trans.__('whole run ≥ %1', run)
      : trans.__('whole run ~ %1', run);
  return score.run_cost === null
    ? time
    : `${time} · ${Number(score.run_cost.toPrecision(2))} ${score.currency}`;
}

function whole(
  verdict: IVerdict,
  score: IDeviceScore | undefined,
  trans: TranslationBundle
): string | undefined {
  return score?.run_seconds ? stepFigure(verdict, score, trans) : undefined;
}

/** A step's time: a bound by the card's sheet, or about what was measured or learned. */
function stepFigure(
  verdict: IVerdict,
  score: IDeviceScore | undefined,
  trans: TranslationBundle
): string {
  const isBound = !score?.seconds_from || score.seconds_from === 'roofline';
  // The score is of the job, which has not all that an estimate can be asked with.
  const { seconds_per_step: seconds } = isBound ? verdict : score;
  if (seconds === null || (isBound && seconds < LEAST)) {
    return '';
  }
  const time = stepTime(seconds, trans);
  return isBound ? trans.__('≥ %1/step', time) : trans.__('~ %1/step', time);
}
