/** What can be done with a job that waits: hold it, and change the order among one's own. */

import * as React from 'react';

import type { IJob } from '../../domain';
import type { PanelModel } from '../../models/panel';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';

/** Places are the user's: whatever is pressed here changes nobody else's. */
export function QueueButtons(props: {
  job: IJob;
  model: Pick<PanelModel, 'jobs'>;
}): JSX.Element {
  const { trans } = useApp();
  const { job, model } = props;
  const order = model.jobs.waiting;
  const at = order.findIndex(({ id }) => id === job.id);
  const move = (before: IJob | undefined) => void model.jobs.move(job.id, before?.id ?? null);
  return (
    <>
      <Button
        title={
          job.held
            ? trans.__('Let it wait again, as one that came now')
            : trans.__('Keep it from starting; others go first meanwhile')
        }
        onClick={() => void model.jobs.hold(job.id, !job.held)}
      >
        {job.held ? trans.__('Release') : trans.__('Hold')}
      </Button>
      {at > 0 && (
        <Button
          title={trans.__('Before all of your waiting jobs')}
          onClick={() => move(order[0])}
        >
          {trans.__('First')}
        </Button>
      )}
      {at > 0 && (
        <Button
          title={trans.__('Before %1', order[at - 1].spec.name)}
          onClick={() => move(order[at - 1])}
        >
          {trans.__('Up')}
        </Button>
      )}
      {at >= 0 && at < order.length - 1 && (
        <Button
          title={trans.__('Behind %1', order[at + 1].spec.name)}
          onClick={() => move(order[at + 2])}
        >
          {trans.__('Down')}
        </Button>
      )}
    </>
  );
}
