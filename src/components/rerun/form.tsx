/** The notebook's variables as a form, with the values that the job had; parameters and what has a role first. */

import * as React from 'react';

import { jobTitle } from '../../models/jobs/runs';
import {
  type IField,
  isCount,
  isMany,
  type RerunForm as Model,
  valueOf
} from '../../models/jobs/rerun';
import { useApp, useSignal } from '../common/context';
import { Muted, Note, List } from '../common/pieces';
import { Typed, useTyped } from '../common/typed';
import { severalHint, SweepOptions } from '../plans/sweepOptions';
import { VariableName } from '../plans/variableName';

/** Variables that are shown before somebody asks for all of them. */
const SHOWN = 6;

export function RerunForm(props: { model: Model; devices: number }): JSX.Element {
  const { trans, language } = useApp();
  const { model, devices } = props;
  useSignal(model.changed);
  const first = model.fields.filter(
    ({ variable: { role, parameter } }, index) => role || parameter || index < SHOWN
  );
  const others = model.fields.filter(field => !first.includes(field));
  const [hasWrong] = React.useState(others.some(field => model.wrong.includes(field)));
  const id = React.useId();
  const [environment, typeEnvironment] = useTyped(model.environment, text =>
    model.update(() => (model.environment = text))
  );
  return (
    <div className="jp-PaddleGpu-form">
      <Muted as="p">
        {trans.__('%1, once more with:', jobTitle(model.job, trans, language))}
      </Muted>
      {model.error && <Note kind="error" message={model.error} />}
      {!model.fields.length && (
        <Muted as="p">
          {trans.__(
            'No variables were found in this notebook: values that stand alone in a cell, as `batch_size = 64`, and numbers such as a learning rate in a call are offered here.'
          )}
        </Muted>
      )}
      {first.map(field => (
        <Field key={key(field)} field={field} model={model} />
      ))}
      {others.length > 0 && (
        // What is wrong is in view when the form comes back.
        <details open={hasWrong}>
          <summary>{trans._n('%1 more', '%1 more', others.length)}</summary>
          {others.map(field => (
            <Field key={key(field)} field={field} model={model} />
          ))}
        </details>
      )}
      {model.isSweep ? (
        <SweepOptions
          choice={model.sweep}
          runs={model.runs}
          progress={model.job.progress}
          choose={sweep => model.update(() => (model.sweep = sweep))}
        />
      ) : (
        <Muted as="p" small>
          {severalHint(trans)}
        </Muted>
      )}
      <label className="jp-PaddleGpu-field">
        <span>{trans.__('Devices')}</span>
        <List
          value={model.gpus}
          onChange={event => model.update(() => (model.gpus = event.target.value))}
        >
          <option value="">{trans.__('as before')}</option>
          <option value="0">{trans.__('CPU')}</option>
          {Array.from({ length: devices }, (_, index) => (
            <option key={index} value={index + 1}>
              {trans._n('%1 device', '%1 devices', index + 1)}
            </option>
          ))}
        </List>
      </label>
      <label className="jp-PaddleGpu-field">
        <span>{trans.__('Mixed precision')}</span>
        <List
          value={model.amp}
          onChange={event =>
            model.update(() => (model.amp = event.target.value as Model['amp']))
          }
        >
          <option value="">{trans.__('as before')}</option>
          {(['off', 'O1', 'O2'] as const).map(level => (
            <option key={level} value={level}>
              {level === 'off' ? trans.__('off') : level}
            </option>
          ))}
        </List>
      </label>
      <details open={!!model.environment}>
        <summary>{trans.__('Environment variables')}</summary>
        <textarea
          className="jp-PaddleGpu-input"
          rows={3}
          aria-label={trans.__('Environment variables, NAME=value, one a line')}
          placeholder={trans.__('NAME=value')}
          value={environment}
          onChange={event => typeEnvironment(event.target.value)}
        />
        {model.strayLines.length > 0 && (
          <small role="alert">
            {trans.__('Not taken: %1. Write NAME=value.', model.strayLines.join(', '))}
          </small>
        )}
      </details>
      <p id={id} className="jp-PaddleGpu-muted jp-PaddleGpu-small" role="status">
        {model.isSweep
          ? trans.__('Each trial is a run of its own, placed by its own estimate.')
          : model.isChanged
            ? trans.__('It begins anew and is placed by an estimate of its own.')
            : trans.__(
                'Nothing is changed yet: it would run the same, from a checkpoint on if it wrote one.'
              )}
      </p>
    </div>
  );
}

function key({ variable }: IField): string {
  return variable.name || variable.role;
}

function Field({ field, model }: { field: IField; model: Model }): JSX.Element {
  const { trans } = useApp();
  const { variable } = field;
  const wrong = !isMany(field) && valueOf(field) === undefined;
  const take = (text: string) => model.update(() => (field.text = text));
  return (
    <label className="jp-PaddleGpu-field">
      <VariableName variable={variable} />
      {typeof variable.value === 'boolean' ? (
        <List value={field.text} onChange={event => take(event.target.value)}>
          {['true', 'false', 'true, false'].map(value => (
            <option key={value} value={value}>
              {value === 'true, false' ? trans.__('both, one after the other') : value}
            </option>
          ))}
        </List>
      ) : (
        <Typed
          inputMode={typeof variable.value === 'number' ? 'decimal' : undefined}
          value={field.text}
          aria-invalid={wrong}
          take={take}
        />
      )}
      {wrong && (
        <small role="alert">
          {isCount(variable)
            ? trans.__('A whole number above 0 is wanted here.')
            : trans.__('A number is wanted here.')}
        </small>
      )}
    </label>
  );
}
