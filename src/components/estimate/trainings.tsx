/** The notebook's trainings, where there are several: which one the figure is of. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IEstimate, ITraining } from '../../domain';
import { bytes } from '../../format';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { placeWord } from './words';

export function Trainings(props: {
  estimate: IEstimate;
  training: Training;
}): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const id = React.useId();
  // The batch that all of them have is said in the head, and the line is short.
  const batches = estimate.trainings.flatMap(one => one.batch_size ?? []);
  const tellsBatch = new Set(batches).size > 1;
  const chosen = estimate.trainings.find(one => one.id === estimate.training);
  const count = estimate.trainings.length;
  const place = chosen ? estimate.trainings.indexOf(chosen) + 1 : 0;
  if (count < 2) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-row jp-PaddleGpu-trainings">
      <label htmlFor={id} className="jp-PaddleGpu-unseen">
        {trans.__('Training')}
      </label>
      <select
        id={id}
        title={chosen && inWords(chosen, true, training, trans)}
        value={estimate.training ?? training.request.training ?? ''}
        disabled={training.isEstimating}
        onChange={event => void training.ask({ training: event.target.value })}
      >
        {estimate.training === null && <option value="">–</option>}
        {estimate.trainings.map(one => (
          <option key={one.id} value={one.id} disabled={one.allocated_peak_bytes === null}>
            {inWords(one, tellsBatch, training, trans)}
          </option>
        ))}
      </select>
      <span className="jp-PaddleGpu-muted" aria-hidden>
        {place ? `${place}/${count}` : count} ▾
      </span>
    </div>
  );
}

/** `ResNet · cell 4`. */
export function called(one: ITraining, training: Training, trans: TranslationBundle): string {
  const place = one.where && placeWord(one.where, training, trans);
  return [one.model ?? one.id, place].filter(Boolean).join(' · ');
}

/** `ResNet · cell 4 · batch 256 · 12.3 GiB`. */
function inWords(
  one: ITraining,
  tellsBatch: boolean,
  training: Training,
  trans: TranslationBundle
): string {
  return [
    called(one, training, trans),
    tellsBatch && one.batch_size !== null && trans.__('batch %1', one.batch_size),
    one.allocated_peak_bytes === null
      ? trans.__('not reached')
      : bytes(one.allocated_peak_bytes)
  ]
    .filter(Boolean)
    .join(' · ');
}
