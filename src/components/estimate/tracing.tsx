/** An estimate under way: for how long already, and the way to end it. */

import * as React from 'react';

import { duration } from '../../format';
import type { Training } from '../../models/estimate/training';
import { useApp, useTick } from '../common/context';
import { Busy, Button } from '../common/pieces';

/** Milliseconds within which an estimate is there before anybody wants to end it. */
const SOON = 2_000;

/** `quiet`: something else says already that it goes on, until it takes its time. */
export function Tracing(props: { training: Training; quiet?: boolean }): JSX.Element | null {
  const { trans } = useApp();
  const { training, quiet } = props;
  useTick(training.isEstimating);
  const took = Date.now() - training.asking.since;
  if (!training.isEstimating || (quiet && took < SOON)) {
    return null;
  }
  return (
    <Busy>
      {trans.__('Tracing one training step…')}{' '}
      {took >= SOON && (
        <>
          <span aria-hidden="true" className="jp-PaddleGpu-figures">
            {duration(Math.floor(took / 1000), trans)}
          </span>{' '}
          <Button look="link" onClick={() => training.stop()}>
            {trans.__('Stop')}
          </Button>
        </>
      )}
    </Busy>
  );
}
