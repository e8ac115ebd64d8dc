/** All jobs on one page: filters, what can be done with the chosen ones, the table, a comparison. */

import * as React from 'react';

import { isEnded } from '../../domain';
import type { EventStream } from '../../events';
import type { JobsPage as Model } from '../../models/jobs/jobsPage';
import { CommandIDs } from '../../tokens';
import { ConnectionNote } from '../common/connection';
import { useApp, useSignal } from '../common/context';
import { focusHeading, useKeptFocus } from '../common/keptFocus';
import { Busy, Button, Row, Space } from '../common/pieces';
import { ActionFailure } from '../jobs/actionFailure';
import { ScheduleList } from '../plans/scheduleList';
import { Comparison } from './comparison';
import { Filters } from './filters';
import { JobTable } from './table';

export function JobsPage(props: { model: Model; events: EventStream }): JSX.Element {
  const { trans } = useApp();
  const { model, events } = props;
  const root = useKeptFocus<HTMLDivElement>();
  React.useEffect(() => focusHeading(root.current?.parentElement), []);
  useSignal(model.changed);
  React.useEffect(() => {
    const look = model.plans.look();
    return () => look.dispose();
  }, [model]);
  const { jobs, shown } = model;
  // A trial is shown with its sweep, so the sweep is what is counted.
  const own = jobs.list.filter(job => job.spec.trial === null);
  const { sweeps } = model.plans;
  const running =
    own.filter(job => !isEnded(job.state)).length +
    sweeps.filter(sweep => sweep.state === 'running').length;
  return (
    <div className="jp-PaddleGpu-jobsPage" ref={root}>
      <div className="jp-PaddleGpu-jobsHead">
        <Row wrap>
          <h1>{trans.__('Jobs')}</h1>
          <span className="jp-PaddleGpu-muted" role="status">
            {model.isFiltered ? trans.__('%1 of %2', shown.length, own.length) : own.length}
            {model.sweeps.length > 0 &&
              ` · ${trans._n('%1 sweep', '%1 sweeps', model.sweeps.length)}`}
            {running > 0 && ` · ${trans._n('%1 not ended', '%1 not ended', running)}`}
          </span>
          <Space />
          <Actions model={model} />
        </Row>
        <Filters model={model} />
      </div>
      <ConnectionNote events={events} retry={() => events.retry()} />
      <Leaving model={model} />
      <ScheduleList plans={model.plans} />
      <ActionFailure jobs={jobs} />
      {!jobs.isLoaded ? (
        <Busy>{trans.__('Looking for jobs…')}</Busy>
      ) : !jobs.list.length ? (
        <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted">
          {trans.__(
            'No jobs yet. Open a notebook that trains and press Submit: its runs are listed here side by side.'
          )}
        </p>
      ) : !shown.length && !model.sweeps.length ? (
        <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted" role="status">
          {trans.__('No job is like this.')}
        </p>
      ) : (
        <JobTable model={model} />
      )}
      {model.comparison && (
        <Comparison model={model.comparison} close={() => model.compare([])} />
      )}
    </div>
  );
}

/** What can be done with the chosen jobs. The buttons stay where they are, whatever is chosen. */
function Actions({ model }: { model: Model }): JSX.Element {
  const { trans, commands } = useApp();
  const { chosen, deletable } = model;
  return (
    <div className="jp-PaddleGpu-actions">
      <Button
        disabled={chosen.length < 2}
        title={chosen.length < 2 ? trans.__('Choose two jobs or more') : undefined}
        onClick={() => model.compare(chosen)}
      >
        {chosen.length < 2 ? trans.__('Compare') : trans.__('Compare %1', chosen.length)}
      </Button>
      <Button
        disabled={chosen.length !== 1}
        title={chosen.length === 1 ? undefined : trans.__('Choose one job')}
        onClick={() => void commands.execute(CommandIDs.rerunWith, { id: chosen[0] })}
      >
        {trans.__('Re-run with…')}
      </Button>
      <Button
        disabled={!deletable.length}
        title={
          deletable.length
            ? undefined
            : chosen.length
              ? trans.__('Only jobs that have ended can be deleted: stop them first')
              : trans.__('Choose jobs that have ended')
        }
        onClick={() => model.deleteChosen()}
      >
        {deletable.length ? trans.__('Delete %1', deletable.length) : trans.__('Delete')}
      </Button>
    </div>
  );
}

/** The way back from a deletion; takes the focus that the pressed button leaves behind. */
function Leaving({ model }: { model: Model }): JSX.Element {
  const { trans } = useApp();
  const count = model.jobs.leaving.length;
  const ref = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (count) {
      ref.current?.querySelector('button')?.focus();
    }
  }, [count > 0]);
  return (
    <div role="status" ref={ref}>
      {count > 0 && (
        <div className="jp-PaddleGpu-leaving">
          {trans._n('%1 job will be deleted.', '%1 jobs will be deleted.', count)}{' '}
          <Button onClick={() => model.keepAll()}>{trans.__('Undo')}</Button>
        </div>
      )}
    </div>
  );
}
