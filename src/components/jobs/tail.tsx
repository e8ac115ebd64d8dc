/** A job's last lines, as they come. */

import * as React from 'react';

import type { JobView } from '../../models/job/jobView';
import { useApp, useSignal } from '../common/context';
import { LogText } from '../common/logLine';
import { Muted } from '../common/pieces';

/** Lines of a job's log in the panel. */
const TAIL = 5;

/** The job's last lines, as they come. */
export function Tail(props: { view: JobView; running: boolean }): JSX.Element {
  const { trans } = useApp();
  const { view, running } = props;
  useSignal(view.log.changed);
  const lines = view.log.tail(TAIL);
  return (
    <div
      className={`jp-PaddleGpu-tail${running ? ' jp-mod-running' : ''}`}
      role="log"
      aria-live="polite"
      aria-label={trans.__('Last lines of the log')}
      tabIndex={0}
    >
      {lines.map(line => (
        <div key={line.n} className="jp-PaddleGpu-tailLine">
          <LogText line={line} />
        </div>
      ))}
      {!lines.length && (
        <Muted as="div">
          {view.log.isOpen ? trans.__('Nothing printed yet.') : trans.__('Reading the log…')}
        </Muted>
      )}
    </div>
  );
}
