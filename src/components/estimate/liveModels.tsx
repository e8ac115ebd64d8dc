/** The models that the notebook's kernel holds, each to be estimated as it is there. */

import * as React from 'react';

import type { Training } from '../../models/estimate/training';
import { Button } from '../common/pieces';
import { useApp } from '../common/context';

/** Models that are offered, those made last. */
const MOST = 4;

export function LiveModels({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const models = training.models.list.slice(-MOST);
  if (!models.length) {
    return null;
  }
  return (
    <div
      className="jp-PaddleGpu-row jp-PaddleGpu-wrap jp-PaddleGpu-liveModels"
      role="group"
      aria-label={trans.__('In the kernel')}
    >
      <span className="jp-PaddleGpu-muted">{trans.__('In the kernel:')}</span>
      {models.map(({ name, type }) => (
        <Button
          key={name}
          aria-pressed={training.models.chosen === name}
          disabled={training.isEstimating}
          title={trans.__(
            'Estimate a step of this %1 as it is now. The kernel stays as it is.',
            type
          )}
          onClick={() => void training.measure(training.models.chosen === name ? '' : name)}
        >
          {name}
        </Button>
      ))}
    </div>
  );
}
