/** What of the jobs is on the screen. */

import type { IEnd } from '../announcements';

/** Id of the node of a job's page. */
export const pageOf = (job: string) => `jp-PaddleGpu-job-${job}`;

/** Whether an end is read on the screen: in a list of jobs, or on the job's own page, at least in part. */
export function isInView({ id, kind }: IEnd): boolean {
  const page = kind === 'job' ? document.getElementById(pageOf(id)) : null;
  const lists = document.querySelectorAll('.jp-PaddleGpu-jobs, .jp-PaddleGpu-jobsPage');
  return (
    !document.hidden &&
    [...lists, ...(page ? [page] : [])].some(one => {
      const { height, top, bottom } = one.getBoundingClientRect();
      return height > 0 && top < window.innerHeight && bottom > 0;
    })
  );
}
