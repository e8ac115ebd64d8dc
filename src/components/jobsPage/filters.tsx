/** Which jobs are shown: words, state, time, and what else there is to choose from. */

import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import type { JobState } from '../../domain';
import type { IFilter, JobsPage } from '../../models/jobs/jobsPage';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { Typed } from '../common/typed';
import { stateName } from '../jobs/words';

const STATES: JobState[] = ['running', 'queued', 'succeeded', 'failed', 'cancelled'];
const DAYS = [1, 7, 30];

export function Filters({ model }: { model: JobsPage }): JSX.Element {
  const { trans, engineTitle } = useApp();
  const { filter, jobs } = model;
  const set = (change: Partial<IFilter>) => {
    model.filter = { ...model.filter, ...change };
  };
  const list = jobs.list;
  const engines = [...new Set(list.map(job => job.spec.engine))];
  const owners = [...new Set(list.map(job => job.owner))].filter(Boolean);
  const notebooks = [...new Set(list.map(job => job.spec.notebook))].sort();
  return (
    <div className="jp-PaddleGpu-filters" role="search">
      <Typed
        type="search"
        value={filter.words}
        placeholder={trans.__('Find by name, note or change')}
        aria-label={trans.__('Find jobs')}
        take={words => set({ words })}
      />
      <Choice
        label={trans.__('State')}
        value={filter.state}
        all={trans.__('any state')}
        options={[
          ['active', trans.__('not ended')],
          ...STATES.map((state): [string, string] => [state, stateName(state, trans)])
        ]}
        choose={state => set({ state: state as IFilter['state'] })}
      />
      <Choice
        label={trans.__('Time')}
        value={filter.days === null ? '' : String(filter.days)}
        all={trans.__('any time')}
        options={[
          ['yesterday', trans.__('yesterday')],
          ...DAYS.map((days): [string, string] => [
            String(days),
            days === 1 ? trans.__('last 24 hours') : trans.__('last %1 days', days)
          ])
        ]}
        choose={days => set({ days: days === 'yesterday' ? days : days ? Number(days) : null })}
      />
      {notebooks.length > 1 && (
        <Choice
          label={trans.__('Notebook')}
          value={filter.notebook}
          all={trans.__('any notebook')}
          options={notebooks.map(path => [path, PathExt.basename(path)])}
          choose={notebook => set({ notebook })}
        />
      )}
      {engines.length > 1 && (
        <Choice
          label={trans.__('Where')}
          value={filter.engine}
          all={trans.__('anywhere')}
          options={engines.map(name => [name, engineTitle(name)])}
          choose={engine => set({ engine })}
        />
      )}
      {owners.length > 1 && (
        <Choice
          label={trans.__('User')}
          value={filter.owner}
          all={trans.__('all users')}
          options={owners.map(name => [name, name])}
          choose={owner => set({ owner })}
        />
      )}
      <label className="jp-PaddleGpu-check">
        <input
          type="checkbox"
          checked={filter.starred}
          onChange={() => set({ starred: !filter.starred })}
        />
        {trans.__('with a star')}
      </label>
      {model.isFiltered && (
        <Button look="link" onClick={() => model.showAll()}>
          {trans.__('Show all')}
        </Button>
      )}
    </div>
  );
}

function Choice(props: {
  label: string;
  value: string;
  all: string;
  options: [string, string][];
  choose: (value: string) => void;
}): JSX.Element {
  return (
    <select
      className={`jp-PaddleGpu-input${props.value ? ' jp-mod-set' : ''}`}
      aria-label={props.label}
      value={props.value}
      onChange={event => props.choose(event.target.value)}
    >
      <option value="">{props.all}</option>
      {props.options.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );
}
