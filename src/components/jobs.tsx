/** The list of jobs: where each one is, and what can be done with it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ApiError } from '../api';
import { type IJob, isEnded, type JobState, measuredPeak } from '../domain';
import { bytes, duration, metric } from '../format';
import type { PanelModel } from '../models/panel';
import type { JobView } from '../models/jobView';
import { CommandIDs } from '../tokens';
import { Bar, Button, Busy, Note, Section } from './common';
import { useApp, useInView, useSignal } from './context';
import { LogText } from './logLine';

/** Jobs that wait or have ended, shown before somebody asks for more, and how many more come at a time. */
const SHOWN = 6;
const MORE = 30;
/** Lines of a job's log in the panel. */
const TAIL = 8;

export function JobList({ model }: { model: PanelModel }): JSX.Element {
  const { trans } = useApp();
  const { jobs } = model;
  const [most, setMost] = React.useState(SHOWN);
  const [word, setWord] = React.useState('');
  const list = jobs.list;
  const found = findJobs(list, most > SHOWN ? word : '', trans);
  const active = found.filter(isActive);
  const others = found.filter(job => !isActive(job));
  const shown = [
    ...active,
    ...others.filter((job, index) => index < most || job.id === model.expanded?.id)
  ];
  const rest = found.length - shown.length;
  return (
    <Section title={trans.__('Jobs')}>
      {!jobs.isLoaded && !model.serverError && <Busy>{trans.__('Looking for jobs…')}</Busy>}
      {jobs.isLoaded && !list.length && (
        <p className="jp-PaddleGpu-muted" role="status">
          {trans.__(
            'No jobs yet. A submitted training runs on its own: you may close this page and come back.'
          )}
        </p>
      )}
      {most > SHOWN && (
        <input
          className="jp-PaddleGpu-input jp-PaddleGpu-find"
          type="search"
          value={word}
          placeholder={trans.__('Find by name or state')}
          aria-label={trans.__('Find jobs')}
          onChange={event => setWord(event.target.value)}
        />
      )}
      <ul className="jp-PaddleGpu-jobs">
        {shown.map(job => (
          <JobItem
            key={job.id}
            job={job}
            model={model}
            leaving={jobs.isLeaving(job.id)}
            expanded={model.expanded?.id === job.id ? model.expanded : null}
            submitted={model.submitted === job.id}
            failure={jobs.failure?.id === job.id ? jobs.failure.error : null}
          />
        ))}
      </ul>
      {most > SHOWN && !found.length && (
        <p className="jp-PaddleGpu-muted" role="status">
          {trans.__('No job is like this.')}
        </p>
      )}
      <div className="jp-PaddleGpu-row">
        {rest > 0 && (
          <Button look="link" onClick={() => setMost(most === SHOWN ? MORE : most + MORE)}>
            {trans._n('Show more (%1)', 'Show more (%1)', rest)}
          </Button>
        )}
        {most > SHOWN && (
          <Button look="link" onClick={() => setMost(SHOWN)}>
            {trans.__('Show fewer')}
          </Button>
        )}
      </div>
    </Section>
  );
}

/** Whether it is under way, not before and not after. */
function isActive({ state }: IJob): boolean {
  return state !== 'queued' && !isEnded(state);
}

/** Jobs with each of the words in their name, notebook or state. */
export function findJobs(list: IJob[], words: string, trans: TranslationBundle): IJob[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter(job => {
    const text = [job.spec.name, job.spec.notebook, stateName(job.state, trans)].join(' ');
    return wanted.every(word => text.toLowerCase().includes(word));
  });
}

interface IItemProps {
  job: IJob;
  model: PanelModel;
  /** It is about to be deleted. */
  leaving: boolean;
  expanded: JobView | null;
  /** It was submitted just now, maybe by a button that is far from here. */
  submitted: boolean;
  failure: ApiError | null;
}

/** A row, or the way back while its job is about to be deleted. Drawn anew only when its own job has news. */
const JobItem = React.memo(function JobItem(props: IItemProps): JSX.Element {
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
      <span className="jp-PaddleGpu-space" />
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
  const running = !isEnded(job.state);
  const remark = jobRemark(job, trans);
  const row = useInView<HTMLLIElement>(props.submitted);
  return (
    <li
      className="jp-PaddleGpu-job"
      data-state={job.state}
      aria-label={job.spec.name}
      ref={row}
    >
      <div className="jp-PaddleGpu-row">
        <StateSign state={job.state} />
        <div className="jp-PaddleGpu-jobTitle">
          <Button
            look="link"
            className="jp-PaddleGpu-jobName"
            title={trans.__('%1: open log, metrics and memory of this job', job.spec.name)}
            onClick={() => void commands.execute(CommandIDs.openJob, { id: job.id })}
          >
            {job.spec.name}
          </Button>
          <span className="jp-PaddleGpu-muted jp-PaddleGpu-jobSays">
            {jobSentence(job, trans)}
          </span>
        </div>
        <Button
          look="link"
          className="jp-PaddleGpu-toggle"
          aria-expanded={!!expanded}
          aria-label={trans.__('Last lines of %1', job.spec.name)}
          onClick={() => model.expand(expanded ? null : job.id)}
        >
          <span aria-hidden="true">{expanded ? '▾' : '▸'}</span>
        </Button>
      </div>
      {job.spec.changes.length > 0 && (
        <div className="jp-PaddleGpu-jobMore">
          {job.spec.changes.map(({ message }) => message).join(' · ')}
        </div>
      )}
      {remark && <div className="jp-PaddleGpu-jobMore">{remark}</div>}
      {job.spec.insisted && (
        <div className="jp-PaddleGpu-jobMore">
          {trans.__('Submitted anyway: %1', job.spec.insisted.message)}
        </div>
      )}
      {running && job.progress.cells_total > 0 && (
        <Bar
          thin
          label={trans.__('%1 percent done', Math.round(share(job)))}
          parts={[{ share: share(job), look: 'need' }]}
        />
      )}
      {job.state === 'failed' && job.reason && expanded && (
        <Note kind="error" message={job.reason} />
      )}
      {job.state === 'failed' && job.reason && !expanded && (
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

/** The job's last lines, as they come. */
function Tail(props: { view: JobView; running: boolean }): JSX.Element {
  const { trans } = useApp();
  const { view, running } = props;
  useSignal(view.log.changed);
  const lines = view.log.tail(TAIL);
  return (
    <div
      className={`jp-PaddleGpu-tail${running ? ' jp-mod-running' : ''}`}
      role="log"
      aria-live="polite"
      aria-label={trans.__('Last lines of the log')}
      tabIndex={0}
    >
      {lines.map(line => (
        <div key={line.n} className="jp-PaddleGpu-tailLine">
          <LogText line={line} />
        </div>
      ))}
      {!lines.length && (
        <div className="jp-PaddleGpu-muted">
          {view.log.isOpen ? trans.__('Nothing printed yet.') : trans.__('Reading the log…')}
        </div>
      )}
    </div>
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
        <Button onClick={() => run(CommandIDs.openNotebook)}>
          {trans.__('Open notebook')}
        </Button>
      )}
      {isEnded(job.state) ? (
        <>
          <Button onClick={() => void model.rerun(job.id)}>{trans.__('Run again')}</Button>
          <Button onClick={() => model.jobs.delete(job.id)}>{trans.__('Delete')}</Button>
        </>
      ) : (
        <StopButton job={job} model={model} />
      )}
    </div>
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

const SIGNS: Record<JobState, string> = {
  queued: '◷',
  preparing: '◔',
  running: '●',
  stopping: '◑',
  succeeded: '✓',
  failed: '▲',
  cancelled: '⊘'
};

export function StateSign({ state }: { state: JobState }): JSX.Element {
  const { trans } = useApp();
  return (
    <span
      className={`jp-PaddleGpu-state jp-mod-${state}`}
      role="img"
      aria-label={stateName(state, trans)}
      title={stateName(state, trans)}
    >
      {SIGNS[state]}
    </span>
  );
}

export function stateName(state: JobState, trans: TranslationBundle): string {
  switch (state) {
    case 'queued':
      return trans.__('waiting');
    case 'preparing':
      return trans.__('preparing');
    case 'running':
      return trans.__('running');
    case 'stopping':
      return trans.__('stopping');
    case 'succeeded':
      return trans.__('done');
    case 'failed':
      return trans.__('failed');
    case 'cancelled':
      return trans.__('stopped');
  }
}

/** How far a job is, in percent: by its epochs and steps where it tells, else by its cells. */
export function share(job: IJob): number {
  const { cells_done, cells_total, epoch, epochs, step, steps } = job.progress;
  if (!cells_total) {
    return 0;
  }
  let cell = 0;
  if (epoch !== null && epochs) {
    cell = Math.max(0, epoch - 1) / epochs + (step && steps ? step / steps / epochs : 0);
  } else if (step && steps) {
    cell = step / steps;
  }
  return Math.min(100, (100 * (cells_done + Math.min(cell, 1))) / cells_total);
}

/** Where a job is, in a few words: its state, how far it is or how long it took. */
export function jobSentence(job: IJob, trans: TranslationBundle): string {
  const { progress } = job;
  const parts = [stateName(job.state, trans)];
  if (isEnded(job.state)) {
    if (job.started !== null && job.ended !== null) {
      parts.push(duration(job.ended - job.started, trans));
    }
  } else if (job.state === 'running') {
    if (progress.epoch !== null && progress.epochs) {
      parts.push(trans.__('epoch %1/%2', progress.epoch, progress.epochs));
    } else if (progress.cells_total) {
      const cell = Math.min(progress.cells_done + 1, progress.cells_total);
      parts.push(trans.__('cell %1 of %2', cell, progress.cells_total));
    }
    if (progress.seconds_left !== null) {
      parts.push(trans.__('%1 left', duration(progress.seconds_left, trans)));
    }
  }
  return parts.join(' · ');
}

/** What else there is to say: what it waits for, its last values, its memory. */
export function jobRemark(job: IJob, trans: TranslationBundle): string {
  const { progress, result, spec } = job;
  if (job.state === 'queued' || job.state === 'preparing' || job.state === 'stopping') {
    return job.reason?.message ?? '';
  }
  if (job.state === 'running') {
    return Object.entries(progress.metrics)
      .slice(0, 3)
      .map(([name, value]) => `${name} ${metric(value)}`)
      .join(' · ');
  }
  const measured = measuredPeak(result);
  if (job.state !== 'succeeded' || !measured) {
    return '';
  }
  const size = bytes(measured.bytes);
  const estimated = spec.estimated_allocated_bytes;
  if (measured.over === 'run') {
    return estimated
      ? trans.__('a step estimated %1, whole run measured %2', bytes(estimated), size)
      : trans.__('whole run measured %1', size);
  }
  return estimated
    ? trans.__('estimated %1, measured %2', bytes(estimated), size)
    : trans.__('measured %1', size);
}
