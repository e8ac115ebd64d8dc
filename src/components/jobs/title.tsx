/** A job's name, which opens its page, and how far it is. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { jobSentence } from './words';

export function JobTitle({ job }: { job: IJob }): JSX.Element {
  const { trans, commands } = useApp();
  return (
    <div className="jp-PaddleGpu-jobTitle">
      <Button
        look="link"
        className="jp-PaddleGpu-jobName"
        title={trans.__('%1: open log, metrics and memory of this job', job.spec.name)}
        onClick={() => void commands.execute(CommandIDs.openJob, { id: job.id })}
      >
        {job.spec.name}
      </Button>
      <span className="jp-PaddleGpu-muted jp-PaddleGpu-jobSays">{jobSentence(job, trans)}</span>
    </div>
  );
}
