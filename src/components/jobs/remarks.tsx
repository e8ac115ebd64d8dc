/** What is worth saying of a job below its name: what was changed for it, what it waits for, that somebody insisted. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { useApp } from '../common/context';
import { jobRemark } from './words';

export function Remarks({ job }: { job: IJob }): JSX.Element {
  const { trans } = useApp();
  const said = [
    job.spec.changes.map(({ message }) => message).join(' · '),
    jobRemark(job, trans),
    job.spec.insisted && trans.__('Submitted anyway: %1', job.spec.insisted.message)
  ];
  return (
    <>
      {said.map((text, index) =>
        text ? (
          <div key={index} className="jp-PaddleGpu-jobMore">
            {text}
          </div>
        ) : null
      )}
    </>
  );
}
