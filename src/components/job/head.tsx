/** The head of a job's page: what it is called, where it is, what can be done with it. */

import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import { duration } from '../../format';
import type { JobView } from '../../models/job/jobView';
import { byRole, isScript, jobTitle, seconds } from '../../models/jobs/runs';
import { CommandIDs } from '../../tokens';
import { useApp, useTick } from '../common/context';
import { Button, Chip, Muted, Row, Space } from '../common/pieces';
import { Star } from '../jobsPage/star';
import { StateSign, StopButton } from '../jobs/state';
import { ViewerButtons } from '../jobs/viewers';
import { ProgressBar } from '../jobs/progressBar';
import { jobRemark, jobSentence, stateName } from '../jobs/words';
import type { OpenNotebook } from './jobPage';

export function JobHead(props: {
  job: IJob;
  model: JobView;
  openNotebook: OpenNotebook;
}): JSX.Element {
  const { trans, commands, language, engineTitle } = useApp();
  const { job, model, openNotebook } = props;
  const running = !isEnded(job.state);
  useTick(running);
  const run = (command: string) => void commands.execute(command, { id: job.id });
  const took = seconds(job);
  const cell = sourceCell(job);
  const devices = job.device_ids.length || job.spec.resources.gpus;
  return (
    <div className="jp-PaddleGpu-viewHead">
      <Row wrap>
        <StateSign state={job.state} program={job.result?.program_status} />
        <h1>{jobTitle(job, trans, language, model.jobs.moment(job, language))}</h1>
        <Star jobs={model.jobs} job={job} />
        <span role="status">
          <Chip>{stateName(job.state, trans, job.result?.program_status)}</Chip>
        </span>
        <Muted>
          {[
            running ? jobSentence(job, trans).split(' · ').slice(1).join(' · ') : '',
            // What it waits for stands below as a note.
            job.state === 'running' ? jobRemark(job, trans) : '',
            took === null ? '' : duration(took, trans),
            engineTitle(job.spec.engine),
            devices ? trans._n('%1 device', '%1 devices', devices) : trans.__('CPU')
          ]
            .filter(Boolean)
            .join(' · ')}
        </Muted>
        <Space />
        <div className="jp-PaddleGpu-actions">
          {running && <StopButton job={job} model={model} />}
          <Button
            title={
              isScript(job)
                ? trans.__('The script that was submitted, as it is now')
                : trans.__('The notebook that was submitted, as it is now')
            }
            onClick={() => openNotebook(job, 'source', cell)}
          >
            {cell === null || isScript(job)
              ? trans.__('Source')
              : trans.__('Source, cell %1', cell + 1)}
          </Button>
          {job.started !== null && (
            <Button
              title={trans.__('The copy with all outputs that this job has written')}
              onClick={() => run(CommandIDs.openNotebook)}
            >
              {trans.__('Executed copy')}
            </Button>
          )}
          <ViewerButtons job={job} />
          {!running && (
            <Button
              title={trans.__('The same once more, from a checkpoint on if it wrote one')}
              onClick={() => run(CommandIDs.rerunJob)}
            >
              {trans.__('Re-run')}
            </Button>
          )}
          <Button onClick={() => run(CommandIDs.rerunWith)}>{trans.__('Re-run with…')}</Button>
        </div>
      </Row>
      {running && job.progress.cells_total > 0 && <ProgressBar job={job} />}
    </div>
  );
}

/** The cell that one would look at: where it failed, where it is, where its batch size stands. */
function sourceCell(job: IJob): number | null {
  const batch = byRole(job, 'batch_size')?.cell ?? -1;
  return job.result?.failure?.cell ?? job.progress.cell ?? (batch < 0 ? null : batch);
}
