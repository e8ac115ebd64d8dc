/** All trials of a sweep: the plot, the table with a curve each, and what can be done with it. */

import * as React from 'react';

import type { ISweep, ITrial, JobState } from '../../domain';
import { bytes, duration, metric } from '../../format';
import type { Plans } from '../../models/plans/plans';
import { Sparkline } from '../../plots';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button, Note, Row, List, Space } from '../common/pieces';
import { WideTable } from '../common/wideTable';
import { StateSign } from '../jobs/state';
import { Parallel } from './parallel';
import { dimensionName, trialState, writtenValue } from './words';

export function SweepView({ sweep, plans }: { sweep: ISweep; plans: Plans }): JSX.Element {
  const { trans } = useApp();
  const [marked, mark] = React.useState<number | null>(null);
  const going = sweep.state === 'running';
  const { failed = 0, refused = 0 } = sweep.counts;
  const columns = [
    trans.__('Trial'),
    ...sweep.dimensions.map(one => dimensionName(one, sweep, trans)),
    sweep.metric || trans.__('Final'),
    trans.__('Curve'),
    trans.__('State'),
    trans.__('Took'),
    trans.__('Estimated')
  ];
  const why = sweep.trials.find(({ state }) => state === 'refused')?.why;
  return (
    <section className="jp-PaddleGpu-sweep" aria-label={trans.__('Trials of %1', sweep.name)}>
      <Row wrap>
        <label className="jp-PaddleGpu-row">
          <span>{trans.__('Best by')}</span>
          <List
            value={sweep.metric}
            disabled={!sweep.metrics.length}
            onChange={event => void plans.compareBy(sweep.id, { metric: event.target.value })}
          >
            {[...new Set([...sweep.metrics, sweep.metric])].map(name => (
              <option key={name} value={name}>
                {name || trans.__('nothing yet')}
              </option>
            ))}
          </List>
        </label>
        <List
          aria-label={trans.__('Which is better')}
          value={sweep.direction}
          onChange={event => void plans.compareBy(sweep.id, { direction: event.target.value })}
        >
          <option value="min">{trans.__('less is better')}</option>
          <option value="max">{trans.__('more is better')}</option>
        </List>
        <Space />
        {going && (
          <Button onClick={() => void plans.cancel(sweep.id)}>{trans.__('Stop all')}</Button>
        )}
        {failed + refused > 0 && (
          <Button onClick={() => void plans.retry(sweep.id)}>
            {trans.__('Re-run failed (%1)', failed + refused)}
          </Button>
        )}
        <a
          className="jp-PaddleGpu-button jp-mod-quiet"
          href={plans.tableUrl(sweep.id)}
          download={`${sweep.id}.csv`}
        >
          {trans.__('Export CSV')}
        </a>
        {!going && (
          <Button onClick={() => void plans.deleteSweep(sweep.id)}>
            {trans.__('Delete with its jobs')}
          </Button>
        )}
      </Row>
      {why && <Note kind="warning" message={why} />}
      <div className="jp-PaddleGpu-sweepBody">
        <Parallel sweep={sweep} marked={marked} mark={mark} />
        <WideTable label={trans.__('Trials')} columns={columns}>
          {sweep.trials.map(trial => (
            <Trial
              key={trial.number}
              trial={trial}
              sweep={sweep}
              marked={marked === trial.number}
              mark={mark}
            />
          ))}
        </WideTable>
      </div>
    </section>
  );
}

function Trial(props: {
  trial: ITrial;
  sweep: ISweep;
  marked: boolean;
  mark: (trial: number | null) => void;
}): JSX.Element {
  const { trans, commands } = useApp();
  const { trial, sweep, marked, mark } = props;
  const best = trial.number === sweep.best;
  // Of a trial that succeeded there is a reason where a program of it has failed.
  const program = trial.why ? 1 : null;
  const name = best ? trans.__('%1 (best)', trial.number) : String(trial.number);
  return (
    <tr
      className={
        [marked ? 'jp-mod-marked' : '', best ? 'jp-mod-best' : ''].join(' ').trim() || undefined
      }
      onMouseEnter={() => mark(trial.number)}
      onMouseLeave={() => mark(null)}
      onFocus={() => mark(trial.number)}
      onBlur={() => mark(null)}
    >
      <th scope="row">
        {trial.job_id && trial.state !== 'deleted' ? (
          <Button
            look="link"
            title={trans.__('Open the job of trial %1', trial.number)}
            onClick={() => void commands.execute(CommandIDs.openJob, { id: trial.job_id })}
          >
            {name}
          </Button>
        ) : (
          name
        )}
      </th>
      {sweep.dimensions.map(dimension => (
        <td key={dimension.name}>{writtenValue(trial.values[dimension.name])}</td>
      ))}
      <td>{trial.value === null ? '–' : metric(trial.value)}</td>
      <td>
        {trial.curve.length > 1 && (
          <Sparkline
            values={trial.curve}
            label={trans.__(
              '%1 from %2 to %3',
              trial.curve_of,
              metric(trial.curve[0]),
              metric(trial.curve[trial.curve.length - 1])
            )}
          />
        )}
      </td>
      <td title={trial.why?.message}>
        {isJobState(trial.state) && <StateSign state={trial.state} program={program} />}{' '}
        {trialState(trial.state, trans, program)}
      </td>
      <td>{trial.seconds === null ? '' : duration(trial.seconds, trans)}</td>
      <td>{trial.placed === null ? '–' : bytes(trial.placed)}</td>
    </tr>
  );
}

function isJobState(state: ITrial['state']): state is JobState & ITrial['state'] {
  return !['planned', 'refused', 'deleted'].includes(state);
}
