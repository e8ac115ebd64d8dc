/** The list of jobs: those under way first, then the newest. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IJob, isEnded, type ISweep } from '../../domain';
import type { PanelModel } from '../../models/panel';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Busy, Button, Row, Section } from '../common/pieces';
import { JobItem } from './row';
import { SweepItem } from './sweepItem';
import { stateName } from './words';

/** Jobs that wait or have ended, shown before somebody asks for more, and how many more come at a time. */
const SHOWN = 3;
const MORE = 30;

export function JobList({ model }: { model: PanelModel }): JSX.Element | null {
  const { trans, commands, language } = useApp();
  const { jobs } = model;
  const [most, setMost] = React.useState(SHOWN);
  const [word, setWord] = React.useState('');
  // The job that runs stands above all else, and a sweep for its trials.
  const list = [
    ...jobs.list.filter(
      ({ id, spec }) => spec.trial === null && id !== model.views.running?.id
    ),
    ...model.plans.sweeps
  ].sort((one, other) => other.created - one.created);
  const found = findJobs(list, most > SHOWN ? word : '', trans);
  const active = found.filter(isActive);
  const others = found.filter(job => !isActive(job));
  const shown = [
    ...active,
    ...others.filter(({ id }, index) => index < most || id === model.views.expanded?.id)
  ];
  const rest = found.length - shown.length;
  // Why each of them failed would be more to read than all else: the others say it when they are unfolded.
  const lastFailed = shown.find(one => 'spec' in one && one.state === 'failed')?.id;
  // Beside a notebook an empty list says nothing: the foot tells where a job goes.
  if (!list.length && (model.views.running || (jobs.isLoaded && model.training))) {
    return null;
  }
  return (
    <Section
      title={trans.__('Jobs')}
      aside={
        list.length > 0 && (
          <Button
            look="link"
            title={trans.__('All runs side by side: sort, filter, compare, re-run')}
            onClick={() => void commands.execute(CommandIDs.openJobs)}
          >
            {trans.__('Side by side')}
          </Button>
        )
      }
    >
      {!jobs.isLoaded && !model.serverError && <Busy>{trans.__('Looking for jobs…')}</Busy>}
      {jobs.isLoaded && !jobs.list.length && (
        <p className="jp-PaddleGpu-muted" role="status">
          {trans.__('No jobs yet.')}
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
        {shown.map(one =>
          'spec' in one ? (
            <JobItem
              key={one.id}
              job={one}
              model={model}
              leaving={jobs.isLeaving(one.id)}
              expanded={model.views.expanded?.id === one.id ? model.views.expanded : null}
              saysWhy={one.id === lastFailed}
              submitted={model.views.submitted === one.id}
              failure={jobs.failure?.id === one.id ? jobs.failure.error : null}
              when={jobs.moment(one, language)}
            />
          ) : (
            <SweepItem key={one.id} sweep={one} />
          )
        )}
      </ul>
      {most > SHOWN && !found.length && (
        <p className="jp-PaddleGpu-muted" role="status">
          {trans.__('No job is like this.')}
        </p>
      )}
      <Row>
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
      </Row>
    </Section>
  );
}

/** Whether it is under way, not before and not after. */
function isActive({ state }: IJob | ISweep): boolean {
  return state !== 'queued' && !isEnded(state);
}

/** Jobs and sweeps with each of the words in their name, notebook or state. */
export function findJobs<T extends IJob | ISweep>(
  list: T[],
  words: string,
  trans: TranslationBundle
): T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter(one => {
    const { name, notebook } = 'spec' in one ? one.spec : one;
    const text = [name, notebook, stateName(one.state, trans)].join(' ');
    return wanted.every(word => text.toLowerCase().includes(word));
  });
}
