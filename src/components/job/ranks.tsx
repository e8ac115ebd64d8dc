/** The processes of a distributed training side by side: the last lines of each, and which of them failed. */

import * as React from 'react';

import type { IJob, ILogLine } from '../../domain';
import type { JobView } from '../../models/job/jobView';
import { deviceCalled } from '../../models/jobs/runs';
import { useApp } from '../common/context';
import { LogText } from '../common/logLine';
import { Button, Muted } from '../common/pieces';
import { Card } from './card';

/** Lines of each process. */
const LINES = 30;

/** How many processes a job has; one for what is not distributed. */
export function rankCount({ spec }: IJob): number {
  return Math.max(1, spec.processes);
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
  const [lines, setLines] = React.useState<readonly ILogLine[] | Error | null>(null);
  const [asked, again] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    let wanted = true;
    model.rankLines(rank, LINES).then(
      found => wanted && setLines(found),
      (reason: Error) => wanted && setLines(reason)
    );
    return () => {
      wanted = false;
    };
  }, [model, rank, asked, job.state]);
  const device = job.device_ids[rank];
  const box = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    if (box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [lines]);
  return (
    <Card
      title={trans.__('Rank %1', rank)}
      wide
      aside={
        <>
          <Muted>{device ? deviceCalled(job, device) : ''}</Muted>{' '}
          <Button look="link" onClick={again} aria-label={trans.__('Read rank %1 again', rank)}>
            {trans.__('Read again')}
          </Button>
        </>
      }
    >
      <div
        className="jp-PaddleGpu-tail"
        ref={box}
        role="log"
        aria-label={trans.__('Last lines of rank %1', rank)}
        tabIndex={0}
      >
        {lines instanceof Error ? (
          <span role="alert">{lines.message}</span>
        ) : lines?.length ? (
          lines.map(line => (
            <div key={line.n} className="jp-PaddleGpu-tailLine">
              <LogText line={line} />
            </div>
          ))
        ) : (
          <Muted>
            {lines ? trans.__('Nothing was printed.') : trans.__('Reading the log…')}
          </Muted>
        )}
      </div>
    </Card>
  );
}
