/** How several values are gone through: all of them or some, so many at once. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IJob } from '../../domain';
import type { ISweepChoice } from '../../models/plans/values';
import { useApp } from '../common/context';
import { Typed } from '../common/typed';
import { Field, List } from '../common/pieces';

/** What can be typed for a variable, said where nobody has yet. */
export function severalHint(trans: TranslationBundle): string {
  return trans.__('Several values make a sweep: 0.1, 0.01 or 32:128:x2 or 0.001:0.1:log5.');
}

/** What the button does that starts a sweep. */
export function startTrials(trials: number | null, trans: TranslationBundle): string {
  return trials === null
    ? trans.__('Start the trials')
    : trans._n('Start %1 trial', 'Start %1 trials', trials);
}

export function SweepOptions(props: {
  choice: ISweepChoice;
  /** Of all combinations; null where they are not counted. */
  runs: number | null;
  /** What a run of the notebook has come to; null where none is known. */
  progress?: IJob['progress'];
  choose: (choice: ISweepChoice) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { choice, runs, progress, choose } = props;
  const id = React.useId();
  const set = (change: Partial<ISweepChoice>) => choose({ ...choice, ...change });
  return (
    <fieldset className="jp-PaddleGpu-form">
      <legend>{trans.__('Sweep')}</legend>
      <Field>
        <span>{trans.__('Try')}</span>
        <List
          value={choice.search}
          onChange={event => set({ search: event.target.value as ISweepChoice['search'] })}
        >
          <option value="grid">
            {runs === null
              ? trans.__('all combinations')
              : trans._n('all combinations: %1 run', 'all combinations: %1 runs', runs)}
          </option>
          <option value="random">{trans.__('some by chance')}</option>
          <option value="optuna">{trans.__('what Optuna finds promising')}</option>
        </List>
      </Field>
      {choice.search !== 'grid' && (
        <Field>
          <span>{trans.__('Trials')}</span>
          <Typed
            type="number"
            min={1}
            placeholder="20"
            value={choice.trials}
            take={trials => set({ trials })}
          />
        </Field>
      )}
      <Field>
        <span>{trans.__('At once, at most')}</span>
        <Typed
          type="number"
          min={1}
          placeholder={trans.__('one for each device')}
          value={choice.atOnce}
          take={atOnce => set({ atOnce })}
        />
      </Field>
      <Field>
        <span>{trans.__('Best by')}</span>
        <Typed
          list={id}
          placeholder={progress?.final?.name ?? trans.__('accuracy, else loss')}
          value={choice.metric}
          take={metric => set({ metric })}
        />
        <datalist id={id}>
          {Object.keys(progress?.metrics ?? {}).map(name => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </Field>
      <Field>
        <span>{trans.__('Which is better')}</span>
        <List
          value={choice.direction}
          onChange={event => set({ direction: event.target.value as typeof choice.direction })}
        >
          <option value="">{trans.__('as its name says')}</option>
          <option value="min">{trans.__('less is better')}</option>
          <option value="max">{trans.__('more is better')}</option>
        </List>
      </Field>
    </fieldset>
  );
}
