/** A sweep as one row among the jobs: how far it is and its best trial; unfolded with all of them. */

import * as React from 'react';

import type { ISweep, JobState } from '../../domain';
import { duration, metric, moment } from '../../format';
import type { Plans } from '../../models/plans/plans';
import { useApp } from '../common/context';
import { Bar, Button, Chip, Muted } from '../common/pieces';
import { StateSign } from '../jobs/state';
import { SweepView } from './sweepView';
import { dimensionText, sweepProgress, sweepShare, valuesOf } from './words';

export function SweepRow(props: {
  sweep: ISweep;
  plans: Plans;
  /** What its trials have cost together; null: there is no such column. */
  cost: string | null;
}): JSX.Element {
  const { sweep, plans, cost } = props;
  const { trans, language } = useApp();
  const open = plans.shown === sweep.id;
  const best = sweep.trials.find(({ number }) => number === sweep.best);
  const values = best ? valuesOf(best, sweep, trans) : '';
  const took = (sweep.ended ?? Date.now() / 1000) - sweep.created;
  const progress = sweepProgress(sweep, trans);
  return (
    <>
      <tr data-state={sweep.state} data-sweep={sweep.id}>
        <td className="jp-mod-mark" />
        <td className="jp-mod-state">
          <StateSign state={sweep.state as JobState} />
        </td>
        <th scope="row" className="jp-mod-name">
          <Button
            look="link"
            className="jp-PaddleGpu-jobName"
            aria-expanded={open}
            title={sweep.notebook}
            onClick={() => plans.show(sweep.id)}
          >
            {open ? '▾' : '▸'} {sweep.name}
          </Button>
          <div className="jp-PaddleGpu-noted">{progress}</div>
        </th>
        <td className="jp-mod-differs">
          <span className="jp-PaddleGpu-chips">
            {sweep.dimensions.map(one => (
              <Chip
                key={one.name}
                title={`${trans.__('The values that are tried')}: ${one.name} = ${one.text}`}
              >
                {dimensionText(one, sweep, trans)}
              </Chip>
            ))}
          </span>
        </td>
        <td className="jp-mod-curve">
          <Bar thin label={progress} parts={[{ share: sweepShare(sweep), look: 'used' }]} />
        </td>
        <td className="jp-mod-final">
          {best && (
            <span className="jp-PaddleGpu-figures" title={values}>
              <Muted>{trans.__('best %1', sweep.metric)}</Muted> {metric(best.value)}
              <div className="jp-PaddleGpu-noted">{values}</div>
            </span>
          )}
        </td>
        <td className="jp-mod-started jp-PaddleGpu-figures">
          {moment(sweep.created, language)}
        </td>
        <td className="jp-mod-took">{duration(took, trans)}</td>
        {cost !== null && <td className="jp-mod-cost jp-PaddleGpu-figures">{cost}</td>}
        <td className="jp-mod-where">
          <Muted>{trans.__('%1 at once', sweep.at_once)}</Muted>
        </td>
      </tr>
      {open && (
        <tr className="jp-PaddleGpu-unfolded">
          <td colSpan={cost === null ? 9 : 10}>
            <SweepView sweep={sweep} plans={plans} />
          </td>
        </tr>
      )}
    </>
  );
}
