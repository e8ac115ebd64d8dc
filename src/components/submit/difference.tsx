/** What the job's copy of the notebook has otherwise: shown before it is submitted, written into it by a click. */

import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import type { IChangedFile } from '../../domain';
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
          {changes.files.length > 0 && (
            <Settings files={changes.files} folder={PathExt.dirname(training.source.path)} />
          )}
        </details>
      )}
      {changes.refused.map(({ change, why }) => (
        <Note key={change} kind="warning" message={why} />
      ))}
    </>
  );
}

/** Files that the person's own hand changes, as other programs may read them too; each opens with a click. */
function Settings(props: { files: readonly IChangedFile[]; folder: string }): JSX.Element {
  const { trans, commands } = useApp();
  const names = props.files.map(({ name }) => name);
  // What lies elsewhere, JupyterLab may not reach.
  const near = names.filter(name => !ABSOLUTE.test(name));
  return (
    <>
      <p className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {trans.__(
          '%1 itself stays as it is. To keep the change, type it there and save.',
          names.join(', ')
        )}
      </p>
      <div className="jp-PaddleGpu-actions">
        {near.map(name => (
          <Button
            key={name}
            onClick={() =>
              void commands.execute('docmanager:open', {
                path: PathExt.join(props.folder, name),
                factory: 'Editor'
              })
            }
          >
            {trans.__('Open %1', name)}
          </Button>
        ))}
      </div>
    </>
  );
}

const ABSOLUTE = /^([/\\]|[A-Za-z]:)/;

const LOOKS: Record<string, string | undefined> = {
  '+': 'jp-mod-added',
  '-': 'jp-mod-removed',
  '@': 'jp-PaddleGpu-muted'
};
