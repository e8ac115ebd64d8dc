/** What the job's copy of the notebook has otherwise: shown before it is submitted, written into it by a click. */

import * as React from 'react';

import type { IChanges } from '../../domain';
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
                {line.replace(
                  HEAD,
                  (_, sign: string, after: string, at: string) =>
                    sign + (after ? trans.__('after cell %1', at) : trans.__('cell %1', at))
                )}
                {'\n'}
              </span>
            ))}
          </pre>
          <Writing training={training} {...changes} />
        </details>
      )}
      {changes.refused.map(({ change, why }) => (
        <Note key={change} kind="warning" message={why} />
      ))}
    </>
  );
}

/** The second click; a file of settings is opened and saved, a script and what JupyterLab may not reach are not. */
function Writing(props: IChanges & { training: Training }): JSX.Element | null {
  const { trans, commands } = useApp();
  const { training, cells, files } = props;
  const { source } = training;
  const names = files.map(({ name }) => name);
  if (cells.length ? !source.write : !files.length) {
    return null;
  }
  if (names.some(name => ABSOLUTE.test(name))) {
    return (
      <p className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {trans.__(
          '%1 itself stays as it is. To keep the change, type it there and save.',
          names.join(', ')
        )}
      </p>
    );
  }
  return (
    <div className="jp-PaddleGpu-actions">
      <Button
        disabled={training.isEstimating}
        title={trans.__('Ctrl+Z there takes it back.')}
        onClick={() =>
          void training.write(path =>
            commands.execute('docmanager:open', { path, factory: 'Editor' })
          )
        }
      >
        {names.length
          ? trans.__(
              'Write into %1',
              [...(cells.length ? [source.name] : []), ...names].join(', ')
            )
          : trans.__('Write into the notebook')}
      </Button>
    </div>
  );
}

/** The head of a cell's part: `+++ after cell 3`. */
const HEAD = /^(--- |\+{3} )(after )?cell (\d+)$/;

const ABSOLUTE = /^([/\\]|[A-Za-z]:)/;

const LOOKS: Record<string, string | undefined> = {
  '+': 'jp-mod-added',
  '-': 'jp-mod-removed',
  '@': 'jp-PaddleGpu-muted'
};
