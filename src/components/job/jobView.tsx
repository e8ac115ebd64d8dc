/** One job in the main area: its head, and tabs for log, metrics, memory and details. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import { duration, moment } from '../../format';
import type { JobView as Model } from '../../models/jobView';
import { CommandIDs } from '../../tokens';
import { Bar, Busy, Button, Chip, Note } from '../common/pieces';
import { ConnectionNote } from '../common/connection';
import { useApp, useSignal } from '../common/context';
import { Details } from './jobDetails';
import { JobMemory } from './jobMemory';
import { JobMetrics } from './jobMetrics';
import { JobResources } from './jobResources';
import { StateSign, StopButton } from '../jobs/state';
import { jobRemark, jobSentence, share, stateName } from '../jobs/words';
import { LogView } from './logView';

type Tab = 'log' | 'metrics' | 'resources' | 'memory' | 'details';

export interface IJobViewProps {
  model: Model;
  /** Go to a cell of the job's source notebook, or of the executed one. */
  openCell: (job: IJob, cell: number, which: 'source' | 'executed') => void;
}

export function JobView({ model, openCell }: IJobViewProps): JSX.Element {
  const { trans } = useApp();
  useSignal(model.changed);
  useSignal(model.jobs.changed);
  const [tab, setTab] = React.useState<Tab>('log');
  const id = React.useId();
  const { job } = model;
  if (!job) {
    return model.isGone ? (
      <p className="jp-PaddleGpu-empty">{trans.__('This job is not there any more.')}</p>
    ) : (
      <Busy>{trans.__('Looking for the job…')}</Busy>
    );
  }
  const tabs: [Tab, string][] = [
    ['log', trans.__('Log')],
    ['metrics', trans.__('Metrics')],
    ['resources', trans.__('Resources')],
    ['memory', trans.__('Memory')],
    ['details', trans.__('Details')]
  ];
  return (
    <div className="jp-PaddleGpu-view">
      <JobHead job={job} model={model} />
      <ConnectionNote events={model.events} retry={() => model.events.retry()} />
      <Outcome job={job} openCell={openCell} />
      <div className="jp-PaddleGpu-tabs" role="tablist" onKeyDown={moveTab}>
        {tabs.map(([key, name]) => (
          <button
            key={key}
            type="button"
            role="tab"
            data-name={name}
            id={`${id}-${key}`}
            aria-selected={tab === key}
            aria-controls={`${id}-panel`}
            tabIndex={tab === key ? 0 : -1}
            onClick={() => setTab(key)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        className="jp-PaddleGpu-tabPanel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${tab}`}
      >
        {tab === 'log' && <LogView model={model} />}
        {tab === 'metrics' && <JobMetrics model={model} />}
        {tab === 'resources' && <JobResources model={model} job={job} />}
        {tab === 'memory' && <JobMemory job={job} />}
        {tab === 'details' && <Details job={job} />}
      </div>
    </div>
  );
}

function JobHead({ job, model }: { job: IJob; model: Model }): JSX.Element {
  const { trans, commands, language } = useApp();
  const running = !isEnded(job.state);
  useTick(running);
  const run = (command: string) => void commands.execute(command, { id: job.id });
  return (
    <div className="jp-PaddleGpu-viewHead">
      <div className="jp-PaddleGpu-row jp-PaddleGpu-wrap">
        <StateSign state={job.state} />
        <h1>{job.spec.name}</h1>
        <span role="status">
          <Chip>{stateName(job.state, trans)}</Chip>
        </span>
        <span className="jp-PaddleGpu-muted">
          {[
            place(job, trans),
            job.started !== null
              ? trans.__('started %1', moment(job.started, language))
              : trans.__('submitted %1', moment(job.created, language)),
            span(job, trans),
            ...job.spec.changes.map(({ message }) => message),
            running ? jobSentence(job, trans).split(' · ').slice(1).join(' · ') : '',
            running ? jobRemark(job, trans) : ''
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        <span className="jp-PaddleGpu-space" />
        <div className="jp-PaddleGpu-actions">
          {job.started !== null && (
            <Button onClick={() => run(CommandIDs.openNotebook)}>
              {trans.__('Open notebook')}
            </Button>
          )}
          {running ? (
            <StopButton job={job} model={model} />
          ) : (
            <Button onClick={() => run(CommandIDs.rerunJob)}>{trans.__('Run again')}</Button>
          )}
        </div>
      </div>
      {running && job.progress.cells_total > 0 && (
        <Bar
          thin
          label={trans.__('%1 percent done', Math.round(share(job)))}
          parts={[{ share: share(job), look: 'need' }]}
        />
      )}
    </div>
  );
}

/** Why it ended, with the cell and the next step; what an action of ours could not do. */
function Outcome(props: {
  job: IJob;
  openCell: IJobViewProps['openCell'];
}): JSX.Element | null {
  const { trans } = useApp();
  const { job, openCell } = props;
  const failure = job.result?.failure;
  if (!job.reason || job.state === 'succeeded') {
    return null;
  }
  return (
    <Note kind={job.state === 'failed' ? 'error' : 'info'} message={job.reason}>
      {failure && (
        <>
          <Button look="link" onClick={() => openCell(job, failure.cell, 'source')}>
            {trans.__('Go to cell %1', failure.cell + 1)}
          </Button>{' '}
          <Button look="link" onClick={() => openCell(job, failure.cell, 'executed')}>
            {trans.__('See it as executed')}
          </Button>
        </>
      )}
    </Note>
  );
}

/** Draw anew each second while time goes on. */
function useTick(active: boolean): void {
  const [, tick] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(() => {
    if (!active) {
      return;
    }
    const timer = window.setInterval(() => !document.hidden && tick(), 1_000);
    return () => window.clearInterval(timer);
  }, [active]);
}

function place(job: IJob, trans: TranslationBundle): string {
  return job.device_ids.length
    ? trans._n('%1 device', '%1 devices', job.device_ids.length)
    : trans.__('CPU');
}

function span(job: IJob, trans: TranslationBundle): string {
  if (job.started === null) {
    return '';
  }
  return duration((job.ended ?? Date.now() / 1000) - job.started, trans);
}

/** Arrow keys go from tab to tab. */
function moveTab(event: React.KeyboardEvent<HTMLElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) {
    const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
    const next =
      tabs[(tabs.indexOf(event.target as HTMLElement) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  }
}
