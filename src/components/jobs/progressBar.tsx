/** How far a running job is, of the time that it will take; where nobody can say how far, no end is drawn. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { useApp } from '../common/context';
import { Bar } from '../common/pieces';
import { isOpenEnded } from './words';

export function ProgressBar({ job }: { job: IJob }): JSX.Element {
  const { trans } = useApp();
  const share = 100 * job.progress.share;
  const isOpen = isOpenEnded(job);
  return (
    <Bar
      thin
      label={
        isOpen
          ? job.progress.cells_total > 1
            ? trans.__('last cell, length unknown')
            : trans.__('length unknown')
          : trans.__('%1 percent done', Math.round(share))
      }
      parts={[isOpen ? { share: 100, look: 'open' } : { share, look: 'need' }]}
    />
  );
}
