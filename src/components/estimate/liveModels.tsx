/** The models that the notebook's kernel holds, each to be estimated as it is there. */

import * as React from 'react';

import type { Training } from '../../models/estimate/training';
import { Button, Muted } from '../common/pieces';
import { useApp } from '../common/context';

/** Models that are offered, those made last. */
const MOST = 4;

export function LiveModels({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { list, chosen } = training.models;
  const held = list.slice(-MOST);
  // The one that is estimated stays, whatever became of it: pressed again, the estimate is of the cells.
  const models =
    chosen && !held.some(({ name }) => name === chosen)
      ? [{ name: chosen, type: chosen }, ...held]
      : held;
  if (!models.length) {
    return null;
  }
  return (
    <div
      className="jp-PaddleGpu-row jp-PaddleGpu-wrap jp-PaddleGpu-liveModels"
      role="group"
      aria-label={trans.__('In the kernel')}
    >
      <Muted>{trans.__('In the kernel:')}</Muted>
      {models.map(({ name, type }) => (
        <Button
          key={name}
          aria-pressed={chosen === name}
          disabled={training.isEstimating}
          title={trans.__(
            'Estimate a step of this %1 as it is now. The kernel stays as it is.',
            type
          )}
          onClick={() => void training.measure(chosen === name ? '' : name)}
        >
          {name}
        </Button>
      ))}
    </div>
  );
}
