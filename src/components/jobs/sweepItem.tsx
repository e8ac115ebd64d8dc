/** A sweep in the panel's list: one row for all of its trials, which stand on the page of jobs. */

import * as React from 'react';

import type { ISweep, JobState } from '../../domain';
import { metric } from '../../format';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Bar, Button, Row } from '../common/pieces';
import { sweepProgress, sweepShare, valuesOf } from '../plans/words';
import { StateSign } from './state';

export function SweepItem({ sweep }: { sweep: ISweep }): JSX.Element {
  const { trans, commands } = useApp();
  const best = sweep.trials.find(({ number }) => number === sweep.best);
  const values = best ? valuesOf(best, sweep, trans) : '';
  const progress = sweepProgress(sweep, trans);
  return (
    <li
      className="jp-PaddleGpu-job"
      data-state={sweep.state}
      data-sweep={sweep.id}
      aria-label={sweep.name}
    >
      <Row>
        <StateSign state={sweep.state as JobState} />
        <div className="jp-PaddleGpu-jobTitle">
          <Button
            look="link"
            className="jp-PaddleGpu-jobName"
            title={trans.__('%1: show all of its trials', sweep.name)}
            onClick={() => void commands.execute(CommandIDs.openJobs, { sweep: sweep.id })}
          >
            {sweep.name}
          </Button>
          <span className="jp-PaddleGpu-muted jp-PaddleGpu-jobSays">{progress}</span>
        </div>
      </Row>
      {sweep.state === 'running' && (
        <Bar thin label={progress} parts={[{ share: sweepShare(sweep), look: 'need' }]} />
      )}
      {best && (
        <div className="jp-PaddleGpu-jobMore" title={values}>
          {trans.__('best %1', sweep.metric)} {metric(best.value)} · {values}
        </div>
      )}
    </li>
  );
}
