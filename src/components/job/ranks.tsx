/** The processes of a distributed training side by side: the last lines of each, and the way to all of them. */

import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import type { JobLog } from '../../models/job/jobLog';
import type { JobView } from '../../models/job/jobView';
import { deviceCalled } from '../../models/jobs/runs';
import { useApp } from '../common/context';
import { Button, Muted } from '../common/pieces';
import { LogTail } from './logTail';

/** Lines of each process. */
const LINES = 30;

/** How many processes a job has; one for what is not distributed. */
export function rankCount({ spec }: IJob): number {
  return Math.max(1, spec.processes);
}

/** What a process has written, kept up to date while it is shown. */
export function useLog(model: JobView, rank: number): JobLog {
  const log = model.logOf(rank);
  const running = !!model.job && !isEnded(model.job.state);
  React.useEffect(() => {
    const look = rank ? log.look() : null;
    return () => look?.dispose();
    // Asked once more when the job ends.
  }, [log, rank, running]);
  return log;
}

export function Ranks({ model, job }: { model: JobView; job: IJob }): JSX.Element {
  return (
    <div className="jp-PaddleGpu-cards">
      {Array.from({ length: rankCount(job) }, (_, rank) => (
        <Rank key={rank} model={model} job={job} rank={rank} />
      ))}
    </div>
  );
}

function Rank(props: { model: JobView; job: IJob; rank: number }): JSX.Element {
  const { trans } = useApp();
  const { model, job, rank } = props;
  const { lines } = useLog(model, rank);
  const device = job.device_ids[rank];
  return (
    <LogTail
      title={trans.__('Rank %1', rank)}
      label={trans.__('Last lines of rank %1', rank)}
      log={lines}
      count={LINES}
      aside={
        <>
          <Muted>{device ? deviceCalled(job, device) : ''}</Muted>{' '}
          <Button
            look="link"
            aria-label={trans.__('Open the log of rank %1', rank)}
            onClick={() => model.openLog(rank)}
          >
            {trans.__('Open the log')}
          </Button>
        </>
      }
    />
  );
}
