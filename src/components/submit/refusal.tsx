/**
 * A training that fits nothing that is here, or waits for what others have: the sentence that every face says, and each
 * way out as a button.
 */

import * as React from 'react';

import type { IDecision, IWay } from '../../domain';
import type { Training } from '../../models/estimate/training';
import { CommandIDs } from '../../tokens';
import { Busy, Button, Note } from '../common/pieces';
import { useApp } from '../common/context';

export function Refusal(props: { decision: IDecision; training: Training }): JSX.Element {
  const { trans, commands } = useApp();
  const { decision, training } = props;
  const { reason, searched } = decision;
  const waits = decision.outcome === 'wait';
  const looking = training.isDetailing && !searched && !waits;
  return (
    <Note
      kind={waits ? 'info' : 'warning'}
      message={looking ? { ...reason, hint: '' } : reason}
    >
      {decision.notes.map(({ message }, index) => (
        <p key={index} className="jp-PaddleGpu-muted jp-PaddleGpu-small">
          {message}
        </p>
      ))}
      {looking && <Busy>{trans.__('Looking for what would fit…')}</Busy>}
      {(decision.ways as IWay[]).map((way, index) => (
        <Button
          key={index}
          disabled={training.isEstimating || training.submission.isSubmitting}
          onClick={() => void training.take(way)}
        >
          {way.label.message}
        </Button>
      ))}
      {!waits && !decision.final && (
        <Button
          look="link"
          disabled={training.submission.isSubmitting}
          title={trans.__(
            'The job starts as soon as a device is free, and may run out of memory'
          )}
          onClick={() =>
            void commands.execute(CommandIDs.submit, { anyway: true, shown: true })
          }
        >
          {trans.__('Submit anyway')}
        </Button>
      )}
    </Note>
  );
}
