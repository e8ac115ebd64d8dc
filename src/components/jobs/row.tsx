/** One job of the list: where it is, its last lines, and what can be done with it. */

import * as React from 'react';

import type { ApiError } from '../../api';
import { type IJob, isEnded } from '../../domain';
import type { JobView } from '../../models/job/jobView';
import { leadsTo } from '../../models/jobs/runs';
import type { PanelModel } from '../../models/panel';
import { CommandIDs } from '../../tokens';
import { useApp, useInView } from '../common/context';
import { Button, Note, Row, Space } from '../common/pieces';
import { QueueButtons } from './queueing';
import { Remarks } from './remarks';
import { StateSign, StopButton } from './state';
import { Tail } from './tail';
import { JobTitle } from './title';
import { ProgressBar } from './progressBar';

interface IItemProps {
  job: IJob;
  model: PanelModel;
  /** It is about to be deleted. */
  leaving: boolean;
  expanded: JobView | null;
  /** It is the last that failed, which says why without being unfolded. */
  saysWhy: boolean;
  /** It was submitted just now, maybe by a button that is far from here. */
  submitted: boolean;
  failure: ApiError | null;
  /** When it was submitted, which another run of its minute makes more exact. */
  when: string;
}

/** A row, or the way back while its job is about to be deleted. Drawn anew only when its own job has news. */
export const JobItem = React.memo(function JobItem(props: IItemProps): JSX.Element {
  const { trans } = useApp();
  const { job, model, leaving } = props;
  if (!leaving) {
    return <JobRow {...props} />;
  }
  return (
    <li className="jp-PaddleGpu-row" role="status">
      <span className="jp-PaddleGpu-muted jp-PaddleGpu-name">
        {trans.__('%1 will be deleted.', job.spec.name)}
      </span>
      <Space />
      <UndoButton onClick={() => model.jobs.keep(job.id)} />
    </li>
  );
});

/** Takes the focus that the pressed “Delete” leaves behind. */
function UndoButton(props: { onClick: () => void }): JSX.Element {
  const { trans } = useApp();
  const ref = React.useRef<HTMLSpanElement>(null);
  React.useEffect(() => {
    if (document.activeElement === document.body) {
      ref.current?.querySelector('button')?.focus();
    }
  }, []);
  return (
    <span ref={ref}>
      <Button look="link" onClick={props.onClick}>
        {trans.__('Undo')}
      </Button>
    </span>
  );
}

function JobRow(props: IItemProps): JSX.Element {
  const { trans, commands } = useApp();
  const { job, model, expanded, failure } = props;
  const place = job.result?.failure;
  const running = !isEnded(job.state);
  const row = useInView<HTMLLIElement>(props.submitted);
  return (
    <li
      className="jp-PaddleGpu-job"
      data-state={job.state}
      aria-label={job.spec.name}
      ref={row}
    >
      <Row>
        <StateSign state={job.state} program={job.result?.program_status} />
        <JobTitle job={job} jobs={model.jobs} />
        <Button
          look="link"
          className="jp-PaddleGpu-toggle"
          aria-expanded={!!expanded}
          aria-label={trans.__('Last lines of %1', job.spec.name)}
          onClick={() => model.views.expand(expanded ? null : job.id)}
        >
          <span aria-hidden="true">{expanded ? '▾' : '▸'}</span>
        </Button>
      </Row>
      <Remarks job={job} />
      {running && job.progress.cells_total > 0 && <ProgressBar job={job} />}
      {job.state === 'failed' && job.reason && expanded && (
        <Note kind="error" message={job.reason}>
          {place && (
            <Button
              look="link"
              onClick={() => {
                const { cell, line } = place;
                const where = { id: job.id, source: true, cell, line };
                void commands.execute(CommandIDs.openNotebook, where);
              }}
            >
              {leadsTo(job, place, trans)}
            </Button>
          )}
        </Note>
      )}
      {job.state === 'failed' && job.reason && props.saysWhy && !expanded && (
        <div className="jp-PaddleGpu-jobMore jp-PaddleGpu-jobReason" title={job.reason.hint}>
          {job.reason.message}
        </div>
      )}
      {expanded && (
        <>
          <Tail view={expanded} running={running} />
          <JobActions job={job} model={model} />
        </>
      )}
      {failure && (
        <Note kind="error" message={failure}>
          <Button onClick={() => model.jobs.dismissFailure()}>{trans.__('Dismiss')}</Button>
        </Note>
      )}
    </li>
  );
}

function JobActions(props: { job: IJob; model: PanelModel }): JSX.Element {
  const { trans, commands } = useApp();
  const { job, model } = props;
  const run = (command: string) => void commands.execute(command, { id: job.id });
  return (
    <div className="jp-PaddleGpu-actions">
      <Button onClick={() => run(CommandIDs.openJob)}>{trans.__('Open job')}</Button>
      {job.started !== null && (
        <Button
          title={trans.__('The copy with all outputs that this job has written')}
          onClick={() => run(CommandIDs.openNotebook)}
        >
          {trans.__('Executed copy')}
        </Button>
      )}
      {job.state === 'queued' && <QueueButtons job={job} model={model} />}
      {isEnded(job.state) ? (
        <>
          <Button onClick={() => void model.rerun(job.id)}>{trans.__('Re-run')}</Button>
          <Button onClick={() => model.jobs.delete(job.id)}>{trans.__('Delete')}</Button>
        </>
      ) : (
        <StopButton job={job} model={model} />
      )}
    </div>
  );
}
