/** What was asked for instead of the notebook's own, beside the number that it leads to. */

import * as React from 'react';

import type { Training } from '../../models/estimate/training';
import { askedFor } from '../../models/estimate/whatIfs';
import { Button } from '../common/pieces';
import { useApp } from '../common/context';

export function AskedFor({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const asked = askedFor(training);
  if (!asked.length) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-chips">
      {asked.map(({ label, undo }) => (
        <span className="jp-PaddleGpu-chip jp-mod-asked" key={label}>
          <span className="jp-PaddleGpu-name" title={label}>
            {label}
          </span>
          <Button
            look="link"
            aria-label={trans.__('Take back: %1', label)}
            onClick={() => void training.ask(undo)}
          >
            ×
          </Button>
        </span>
      ))}
    </div>
  );
}
