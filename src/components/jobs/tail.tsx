/** A job's last lines, as they come. */

import * as React from 'react';

import type { JobView } from '../../models/job/jobView';
import { useApp, useSignal } from '../common/context';
import { LogText } from '../common/logLine';

/** Lines of a job's log below its row, and of the one that runs above all else, where the words are counted. */
const LINES = 5;
const LINES_AT_A_GLANCE = 3;

/** The job's last lines, as they come. */
export function Tail(props: {
  view: JobView;
  running: boolean;
  glance?: boolean;
}): JSX.Element {
  const { trans } = useApp();
  const { view, running, glance } = props;
  useSignal(view.log.changed);
  const most = glance ? LINES_AT_A_GLANCE : LINES;
  const lines = view.log.tail(most);
  return (
    <div
      className={`jp-PaddleGpu-tail${running ? ' jp-mod-running' : ''}`}
      role="log"
      aria-live="polite"
      aria-label={trans.__('Last lines of the log')}
      tabIndex={0}
      style={{ '--jp-PaddleGpu-lines': most } as React.CSSProperties}
    >
      {lines.map(line => (
        <div key={line.n} className="jp-PaddleGpu-tailLine">
          <LogText line={line} />
        </div>
      ))}
      {!lines.length && (
        <div className="jp-PaddleGpu-muted">
          {view.log.isOpen ? trans.__('Nothing printed yet.') : trans.__('Reading the log…')}
        </div>
      )}
    </div>
  );
}
