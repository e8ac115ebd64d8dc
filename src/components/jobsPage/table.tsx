/** The jobs as a table: what tells runs apart, side by side. On a narrow page each row is a small block. */

import * as React from 'react';

import { type IJob, isEnded } from '../../domain';
import { duration, metric } from '../../format';
import { type Column, type JobsPage, withSweeps } from '../../models/jobs/jobsPage';
import { costText, jobTitle, seconds, sweepCost } from '../../models/jobs/runs';
import { Sparkline } from '../../plots';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button, Muted } from '../common/pieces';
import { StateSign } from '../jobs/state';
import { jobSentence, stateName } from '../jobs/words';
import { ViewerButtons } from '../jobs/viewers';
import { SweepRow } from '../plans/sweepRow';
import { Differs } from './differs';
import { linked } from '../common/logLine';
import { NoteField } from './noteField';
import { Star } from './star';

/** Rows that are drawn, and how many more come each time that the end of them is scrolled into view. */
const ROWS = 60;

export function JobTable({ model }: { model: JobsPage }): JSX.Element {
  const { trans, engineTitle, language } = useApp();
  const { shown, jobs, hasCosts } = model;
  const [most, setMost] = React.useState(ROWS);
  const end = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const node = end.current;
    if (!node || typeof IntersectionObserver === 'undefined') {
      return;
    }
    const observer = new IntersectionObserver(
      entries => entries.some(entry => entry.isIntersecting) && setMost(count => count + ROWS)
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, [most < shown.length]);
  // At once, not with the next frame: a box that is pressed would jump back in between.
  const [, redraw] = React.useReducer((count: number) => count + 1, 0);
  const choose = React.useCallback(
    (id: string | null, chosen: boolean) => {
      if (id === null) {
        model.chooseAll(chosen);
      } else {
        model.choose(id, chosen);
      }
      redraw();
    },
    [model]
  );
  // Who sorts looks at the first rows again; drawing all that were scrolled through anew would take a fifth of a second.
  const sort = (column: Column) => {
    setMost(ROWS);
    model.sortBy(column);
  };
  const chosen = model.chosen.length;
  const rows = withSweeps(model.sweeps, shown, most, model.order);
  return (
    <>
      <table className="jp-PaddleGpu-table">
        <caption className="jp-PaddleGpu-unseen">
          {trans._n('%1 job', '%1 jobs', shown.length)}
        </caption>
        <thead>
          <tr>
            <th scope="col" className="jp-mod-mark">
              <input
                type="checkbox"
                aria-label={trans.__('Choose all')}
                checked={chosen > 0 && chosen >= shown.length}
                ref={box => {
                  if (box) {
                    box.indeterminate = chosen > 0 && chosen < shown.length;
                  }
                }}
                onChange={event => choose(null, event.target.checked)}
              />
            </th>
            <Heading model={model} sort={sort} column="state" name={trans.__('State')} short />
            <Heading model={model} sort={sort} column="name" name={trans.__('Job')} />
            <th scope="col">{trans.__('What differs')}</th>
            <th scope="col" className="jp-mod-curve">
              {trans.__('Curve')}
            </th>
            <Heading model={model} sort={sort} column="final" name={trans.__('Final')} />
            <Heading model={model} sort={sort} column="started" name={trans.__('Submitted')} />
            <Heading model={model} sort={sort} column="took" name={trans.__('Took')} />
            {hasCosts && (
              <Heading model={model} sort={sort} column="cost" name={trans.__('Cost')} />
            )}
            <Heading model={model} sort={sort} column="where" name={trans.__('Where')} />
          </tr>
        </thead>
        <tbody>
          {rows.map(one =>
            'trials' in one ? (
              <SweepRow
                key={one.id}
                sweep={one}
                plans={model.plans}
                cost={hasCosts ? sweepCost(one, jobs) : null}
              />
            ) : (
              <Row
                key={one.id}
                job={one}
                model={model}
                chosen={model.isChosen(one.id)}
                leaving={jobs.isLeaving(one.id)}
                choose={choose}
                hasCosts={hasCosts}
                where={engineTitle(one.spec.engine)}
                when={jobs.moment(one, language)}
              />
            )
          )}
        </tbody>
      </table>
      {most < shown.length && (
        <div ref={end} className="jp-PaddleGpu-tableEnd">
          <Button look="link" onClick={() => setMost(most + ROWS)}>
            {trans._n('Show more (%1)', 'Show more (%1)', shown.length - most)}
          </Button>
        </div>
      )}
    </>
  );
}

function Heading(props: {
  model: JobsPage;
  sort: (column: Column) => void;
  column: Column;
  name: string;
  /** Has no room for its name. */
  short?: boolean;
}): JSX.Element {
  const { trans } = useApp();
  const { model, sort, column, name, short } = props;
  const { order } = model;
  const is = order.column === column;
  const sign = is ? (order.down ? '▾' : '▴') : '';
  return (
    <th
      scope="col"
      className={`jp-mod-${column}`}
      aria-sort={is ? (order.down ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className="jp-PaddleGpu-heading"
        title={trans.__('Sort by %1', name)}
        aria-label={short ? name : undefined}
        onClick={() => sort(column)}
      >
        {short ? '' : name}
        <span aria-hidden="true">{short && !sign ? '●' : sign}</span>
      </button>
    </th>
  );
}

interface IRowProps {
  job: IJob;
  model: JobsPage;
  chosen: boolean;
  leaving: boolean;
  choose: (id: string, chosen: boolean) => void;
  hasCosts: boolean;
  /** What its engine is called: known only when the engines have been read. */
  where: string;
  /** When it was submitted, as exactly as tells it from others. */
  when: string;
}

/** Drawn anew only when its own job has news. */
const Row = React.memo(function Row(props: IRowProps): JSX.Element {
  const { trans, commands, language } = useApp();
  const { job, model, chosen, leaving, choose, hasCosts, where, when } = props;
  const last = job.progress.final;
  const took = seconds(job);
  const { sparkline } = job.progress;
  const title = jobTitle(job, trans, language, when);
  const [writes, setWrites] = React.useState(false);
  const pencil = React.useRef<HTMLButtonElement>(null);
  return (
    <tr
      data-state={job.state}
      className={leaving ? 'jp-mod-leaving' : chosen ? 'jp-mod-chosen' : undefined}
    >
      <td className="jp-mod-mark">
        <input
          type="checkbox"
          aria-label={trans.__('Choose %1', title)}
          checked={chosen}
          disabled={leaving}
          onChange={event => choose(job.id, event.target.checked)}
        />
      </td>
      <td className="jp-mod-state">
        <StateSign state={job.state} program={job.result?.program_status} />
      </td>
      <th scope="row" className="jp-mod-name">
        <span className="jp-PaddleGpu-row">
          <Button
            look="link"
            className="jp-PaddleGpu-jobName"
            title={`${title}\n${job.spec.notebook}`}
            onClick={() => void commands.execute(CommandIDs.openJob, { id: job.id })}
          >
            {job.spec.name}
          </Button>
          <Star jobs={model.jobs} job={job} />
          <button
            type="button"
            className="jp-PaddleGpu-star"
            ref={pencil}
            aria-expanded={writes}
            aria-label={trans.__('Note about %1', job.spec.name)}
            title={job.note ? trans.__('Change the note') : trans.__('Add a note')}
            onClick={() => setWrites(!writes)}
          >
            <span aria-hidden="true">✎</span>
          </button>
        </span>
        {writes ? (
          <NoteField
            jobs={model.jobs}
            job={job}
            done={byKey => {
              setWrites(false);
              if (byKey) {
                pencil.current?.focus();
              }
            }}
          />
        ) : (
          job.note && <div className="jp-PaddleGpu-noted">{linked(job.note)}</div>
        )}
      </th>
      <td className="jp-mod-differs">
        <Differs job={job} />
      </td>
      <td className="jp-mod-curve">
        {sparkline && sparkline.values.length > 1 && (
          <Sparkline
            values={sparkline.values}
            width={96}
            height={22}
            label={trans.__(
              '%1 from %2 to %3',
              sparkline.name,
              metric(sparkline.values[0]),
              metric(sparkline.values[sparkline.values.length - 1])
            )}
          />
        )}
        <ViewerButtons job={job} look="link" />
      </td>
      <td className="jp-mod-final">
        {job.state === 'failed' || job.state === 'cancelled' ? (
          <span className="jp-PaddleGpu-whyEnded" title={job.reason?.message}>
            {job.reason?.message}
          </span>
        ) : (
          last && (
            <span className="jp-PaddleGpu-figures">
              <Muted>{last.name}</Muted> {metric(last.value)}
            </span>
          )
        )}
        {job.progress.warning && (
          <span className="jp-PaddleGpu-whyEnded" title={job.progress.warning.hint}>
            {job.progress.warning.message}
          </span>
        )}
      </td>
      <td className="jp-mod-started jp-PaddleGpu-figures">{when}</td>
      <td className="jp-mod-took">
        {took === null ? '' : duration(took, trans)}
        {!isEnded(job.state) && (
          <Muted as="div">
            {jobSentence(job, trans).split(' · ').slice(1).join(' · ') ||
              stateName(job.state, trans)}
          </Muted>
        )}
      </td>
      {hasCosts && <td className="jp-mod-cost jp-PaddleGpu-figures">{costText(job)}</td>}
      <td className="jp-mod-where">
        <Where job={job} called={where} />
      </td>
    </tr>
  );
});

function Where({ job, called }: { job: IJob; called: string }): JSX.Element {
  const { trans } = useApp();
  const count = job.device_ids.length || job.spec.resources.gpus;
  return (
    <>
      {called}
      <Muted>
        {' · '}
        {count ? trans._n('%1 device', '%1 devices', count) : trans.__('CPU')}
      </Muted>
    </>
  );
}
