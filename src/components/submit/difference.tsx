/** What the job's copy of the notebook has otherwise: shown before it is submitted, written into it by a click. */

import * as React from 'react';

import type { Training } from '../../models/estimate/training';
import { Button, Note } from '../common/pieces';
import { useApp } from '../common/context';

export function Difference({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { changes } = training.submission;
  if (!changes || training.stale) {
    return null;
  }
  return (
    <>
      {changes.difference && (
        <details className="jp-PaddleGpu-difference" open>
          <summary>
            {trans.__(
              'The job runs a copy %1',
              changes.says.map(({ message }) => message).join(' · ')
            )}
          </summary>
          <pre aria-label={trans.__('What is different in the copy')} tabIndex={0}>
            {changes.difference.split('\n').map((line, index) => (
              <span key={index} className={LOOKS[line.charAt(0)]}>
                {line}
                {'\n'}
              </span>
            ))}
          </pre>
          {training.source.write && !changes.files.length && (
            <div className="jp-PaddleGpu-actions">
              <Button
                disabled={training.isEstimating}
                title={trans.__('Ctrl+Z in the cell takes it back.')}
                onClick={() => void training.write()}
              >
                {trans.__('Write into the notebook')}
              </Button>
            </div>
          )}
        </details>
      )}
      {changes.refused.map(({ change, why }) => (
        <Note key={change} kind="warning" message={why} />
      ))}
    </>
  );
}

const LOOKS: Record<string, string | undefined> = {
  '+': 'jp-mod-added',
  '-': 'jp-mod-removed',
  '@': 'jp-PaddleGpu-muted'
};
