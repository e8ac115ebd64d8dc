/** One job in the main area: its head, an overview of everything, and tabs for depth. */

import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import type { IFilePlace } from '../../models/job/files';
import type { JobView } from '../../models/job/jobView';
import { leadsTo } from '../../models/jobs/runs';
import { Busy, Button, Note } from '../common/pieces';
import { ConnectionNote } from '../common/connection';
import { focusHeading, useKeptFocus } from '../common/keptFocus';
import { useApp, useSignal } from '../common/context';
import { ActionFailure } from '../jobs/actionFailure';
import type { Registry } from './executed';
import { Facts } from './facts';
import { Figures } from './figures';
import { JobHead } from './head';
import { Details } from './jobDetails';
import { JobMemory } from './jobMemory';
import { LogTail } from './logTail';
import { LogView } from './logView';
import { MetricCards } from './metricCards';
import { NotebookTab } from './notebookTab';
import { rankCount, Ranks } from './ranks';
import { UseCards } from './useCards';

/** Lines of the log on the overview. */
const LINES = 12;

type Tab = 'overview' | 'log' | 'memory' | 'notebook' | 'ranks' | 'details';

/** Go to the job's source notebook or to its executed copy, at a cell where one is named, and at a line in it. */
export type OpenNotebook = (
  job: IJob,
  which: 'source' | 'executed',
  cell: number | null,
  line?: number
) => void;

/** Go to a file beside the job's notebook. */
export type OpenFile = (job: IJob, place: IFilePlace) => void;

export interface IJobPageProps {
  model: JobView;
  /** Draws notebooks. */
  registry: Registry;
  openNotebook: OpenNotebook;
  openFile: OpenFile;
}

export function JobPage(props: IJobPageProps): JSX.Element {
  const { trans } = useApp();
  const { model } = props;
  useSignal(model.changed);
  useSignal(model.jobs.changed);
  const { job } = model;
  if (!job) {
    return model.isGone ? (
      <p className="jp-PaddleGpu-empty">{trans.__('This job is not there any more.')}</p>
    ) : (
      <Busy>{trans.__('Looking for the job…')}</Busy>
    );
  }
  return <Known {...props} job={job} />;
}

function Known(props: IJobPageProps & { job: IJob }): JSX.Element {
  const { trans } = useApp();
  const { model, job, registry, openNotebook, openFile } = props;
  const root = useKeptFocus<HTMLDivElement>();
  React.useEffect(() => focusHeading(root.current?.parentElement), []);
  useSignal(model.turned);
  const id = React.useId();
  const tabs: [Tab, string][] = [
    ['overview', trans.__('Overview')],
    ['log', trans.__('Log')],
    ['memory', trans.__('Memory')],
    ['notebook', trans.__('Notebook')],
    ...(rankCount(job) > 1 ? [['ranks', trans.__('Ranks')] as [Tab, string]] : []),
    ['details', trans.__('Details')]
  ];
  const tab = (tabs.find(([key]) => key === model.tab) ?? tabs[0])[0];
  return (
    <div className="jp-PaddleGpu-view" ref={root}>
      <JobHead job={job} model={model} openNotebook={openNotebook} />
      <ConnectionNote events={model.events} retry={() => model.events.retry()} />
      <Outcome model={model} job={job} openNotebook={openNotebook} />
      {job.progress.warning && <Note kind="warning" message={job.progress.warning} />}
      <ActionFailure jobs={model.jobs} id={job.id} />
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
            onClick={() => (model.tab = key)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        className="jp-PaddleGpu-tabPanel"
        role="tabpanel"
        tabIndex={0}
        id={`${id}-panel`}
        aria-labelledby={`${id}-${tab}`}
      >
        {tab === 'overview' && (
          <Overview model={model} job={job} openLog={() => model.openLog(0)} />
        )}
        {tab === 'log' && (
          <LogView
            model={model}
            openPlace={({ cell, line }) => openNotebook(job, 'source', cell, line)}
            openFile={place => openFile(job, place)}
          />
        )}
        {tab === 'memory' && <Memory model={model} job={job} />}
        {tab === 'notebook' && (
          <NotebookTab
            model={model}
            job={job}
            registry={registry}
            openSource={() => openNotebook(job, 'source', null)}
            openExecuted={() => openNotebook(job, 'executed', null)}
          />
        )}
        {tab === 'ranks' && <Ranks model={model} job={job} />}
        {tab === 'details' && <Details model={model} job={job} />}
      </div>
    </div>
  );
}

/** What was estimated beside what was measured, and memory over time. */
function Memory(props: { model: JobView; job: IJob }): JSX.Element {
  const { model, job } = props;
  useLook(model, job);
  return (
    <>
      <JobMemory job={job} />
      {!!model.statistics.value?.points.length && (
        <div className="jp-PaddleGpu-cards">
          <UseCards model={model} job={job} of={['device_memory', 'memory']} />
        </div>
      )}
    </>
  );
}

/** Ask for metrics and use as long as they are shown. */
function useLook(model: JobView, job: IJob): void {
  useSignal(model.metrics.changed);
  useSignal(model.statistics.changed);
  const running = !isEnded(job.state);
  React.useEffect(() => {
    const look = model.look();
    return () => look.dispose();
    // Asked once more when the job ends.
  }, [model, running]);
}

/** Everything at a glance, in as many columns as there is room for. */
function Overview(props: { model: JobView; job: IJob; openLog: () => void }): JSX.Element {
  const { trans } = useApp();
  const { model, job, openLog } = props;
  useLook(model, job);
  // That nothing was recorded is the last that one asks.
  const isUsed = !isEnded(job.state) || !!model.statistics.value?.points.length;
  const use = <UseCards model={model} job={job} />;
  return (
    <div className="jp-PaddleGpu-cards">
      <MetricCards model={model} job={job} />
      {isUsed && use}
      <LogTail
        title={trans.__('Log')}
        label={trans.__('Last lines of the log')}
        log={model.log}
        count={LINES}
        aside={
          <Button look="link" onClick={openLog}>
            {trans.__('Open the log')}
          </Button>
        }
      />
      <Facts model={model} job={job} />
      <Figures model={model} job={job} />
      {!isUsed && use}
    </div>
  );
}

/** Why it ended, with the cell and the next step. */
function Outcome(props: {
  model: JobView;
  job: IJob;
  openNotebook: OpenNotebook;
}): JSX.Element | null {
  const { trans } = useApp();
  const { model, job, openNotebook } = props;
  const failure = job.result?.failure;
  const rank = job.result?.rank;
  if (!job.reason || job.state === 'succeeded') {
    return null;
  }
  return (
    <Note kind={job.state === 'failed' ? 'error' : 'info'} message={job.reason}>
      {failure && (
        <>
          <Button
            look="link"
            onClick={() => openNotebook(job, 'source', failure.cell, failure.line ?? undefined)}
          >
            {leadsTo(job, failure, trans)}
          </Button>{' '}
          {rank ? (
            // The executed copy is the first one's, in which nothing failed.
            <Button look="link" onClick={() => model.openLog(rank)}>
              {trans.__('Open the log of rank %1', rank)}
            </Button>
          ) : (
            <Button look="link" onClick={() => openNotebook(job, 'executed', failure.cell)}>
              {trans.__('See it as executed')}
            </Button>
          )}
        </>
      )}
    </Note>
  );
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
