/** A job's name, which opens its page, and how far it is. */

import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import { differenceText } from '../../models/jobs/runs';
import type { Jobs } from '../../models/jobs/jobs';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { jobSentence } from './words';

/** Differences from the last run that are named; more stand on the page of all jobs. */
const DIFFERENCES = 2;

export function JobTitle({ job, jobs }: { job: IJob; jobs: Jobs }): JSX.Element {
  const { trans, commands, language } = useApp();
  // What tells it from others of the same name.
  const says = [
    ...job.spec.differs.slice(0, DIFFERENCES).map(one => differenceText(one, trans)),
    jobSentence(job, trans),
    isEnded(job.state) || jobs.twins(job).length > 1 ? jobs.moment(job, language) : ''
  ];
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
      <span className="jp-PaddleGpu-muted jp-PaddleGpu-jobSays">
        {says.filter(Boolean).join(' · ')}
      </span>
    </div>
  );
}
