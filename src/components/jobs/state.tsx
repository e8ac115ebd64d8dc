/** A job's state as a sign, and the button that ends it. */

import * as React from 'react';

import type { IJob, JobState } from '../../domain';
import type { PanelModel } from '../../models/panel';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { stateName } from './words';

const SIGNS: Record<JobState, string> = {
  queued: '◷',
  preparing: '◔',
  running: '●',
  stopping: '◑',
  succeeded: '✓',
  failed: '▲',
  cancelled: '⊘'
};

export function StateSign(props: { state: JobState; program?: number | null }): JSX.Element {
  const { trans } = useApp();
  const { state, program } = props;
  const name = stateName(state, trans, program);
  const shown = program && state === 'succeeded' ? 'failed' : state;
  return (
    <span
      className={`jp-PaddleGpu-state jp-mod-${shown}`}
      role="img"
      aria-label={name}
      title={name}
    >
      {SIGNS[shown]}
    </span>
  );
}

/** Asks the job to save and end; a second press ends it at once. */
export function StopButton(props: { job: IJob; model: Pick<PanelModel, 'jobs'> }): JSX.Element {
  const { trans } = useApp();
  const { job, model } = props;
  const stopping = job.state === 'stopping';
  return (
    <Button
      title={
        stopping
          ? trans.__('End it now, without waiting for it to save')
          : trans.__('Let it save what it has, and end it')
      }
      onClick={() => void model.jobs.cancel(job.id, stopping)}
    >
      {stopping ? trans.__('Stop now') : trans.__('Stop')}
    </Button>
  );
}
