/** A star for a job that one wants to find again. */

import * as React from 'react';

import type { IJob } from '../../domain';
import type { Jobs } from '../../models/jobs/jobs';
import { useApp } from '../common/context';

export function Star({ jobs, job }: { jobs: Jobs; job: IJob }): JSX.Element {
  const { trans } = useApp();
  return (
    <button
      type="button"
      className={`jp-PaddleGpu-star${job.starred ? ' jp-mod-on' : ''}`}
      aria-pressed={job.starred}
      aria-label={trans.__('Star %1', job.spec.name)}
      title={job.starred ? trans.__('Take the star away') : trans.__('Keep in mind')}
      onClick={() => void jobs.annotate(job.id, { starred: !job.starred })}
    >
      <span aria-hidden="true">{job.starred ? '★' : '☆'}</span>
    </button>
  );
}
