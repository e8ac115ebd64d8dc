/** Where the notebook would end with an error, before anybody waits for a job to find it. */

import * as React from 'react';

import type { IEstimate } from '../../domain';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Button, Note } from '../common/pieces';

/** Where the notebook would end with an error. It can be submitted all the same. */
export function Stop(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const { stop } = estimate;
  if (!stop) {
    return null;
  }
  const cell = stop.cell;
  const line = stop.line ?? 1;
  // What raises it comes first: there it is corrected.
  const raised = stop.is_script ? null : (stop.raised?.cell ?? null);
  const places = [raised, cell].filter(place => place !== null);
  const leaves = stop.device !== '' && stop.error.startsWith('SystemExit');
  return (
    <Note
      kind={estimate.status === 'ok' ? 'warning' : 'error'}
      message={
        stop.device || !stop.message
          ? {
              code: 'would_stop',
              message: stop.is_script
                ? trans.__('On the CPU the script would stop in line %1: %2', line, stop.error)
                : trans.__(
                    'On the CPU the notebook would stop in cell %1, line %2: %3',
                    (cell ?? 0) + 1,
                    line,
                    stop.error
                  ),
              hint: leaves
                ? trans.__(
                    'It leaves by itself where Paddle has no GPU. Tell it by its own settings to take the CPU, or submit it where there is one.'
                  )
                : trans.__(
                    'The line asks for a device that is not here: %1. Let the job take the CPU there, or submit it where there is one.',
                    stop.device
                  )
            }
          : stop.message
      }
    >
      {stop.device && !leaves && (
        <Button
          disabled={training.isEstimating}
          title={trans.__('Click to estimate with it; the job is run with it too.')}
          onClick={() => void training.ask({ on_cpu: true })}
        >
          {trans.__('Take the CPU there')}
        </Button>
      )}
      {places.map(place => (
        <Button key={place} look="link" onClick={() => training.source.reveal(place)}>
          {stop.is_script ? trans.__('Open the script') : trans.__('Go to cell %1', place + 1)}
        </Button>
      ))}
    </Note>
  );
}
