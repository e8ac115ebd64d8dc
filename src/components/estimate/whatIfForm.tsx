/** What if: other values than the notebook's own, asked for and taken back. */

import * as React from 'react';

import type { IEstimate, IEstimateRequest, IWhatIf, Value } from '../../domain';
import type { Training } from '../../models/estimate/training';
import { applies, askedFor, isInFacts, ownValue, valueOf } from '../../models/estimate/whatIfs';
import { Button, List } from '../common/pieces';
import { useApp } from '../common/context';

/** What stands in the fields, by what-if; empty is the notebook's own. */
type Values = Record<string, string>;

/** Fields for what can be asked of this training. */
export function WhatIfForm(props: {
  estimate: IEstimate;
  training: Training;
}): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const { request, whatIfs } = training;
  const asked = askedFor(training).filter(({ isAnswer }) => !isAnswer);
  const own = useOwnValues(estimate, training);
  const now = valuesOf(request, whatIfs);
  const [values, setValues] = React.useState(now);
  // What was asked for or taken back elsewhere, as by an advice.
  const told = JSON.stringify(now);
  React.useEffect(() => {
    setValues(valuesOf(training.request, training.whatIfs));
  }, [training, told]);
  const shown = whatIfs.filter(
    whatIf =>
      applies(whatIf, training, estimate) && (!whatIf.follows || !!values[whatIf.follows])
  );
  if (!shown.length || (estimate.status !== 'ok' && !asked.length)) {
    return null;
  }
  const ask = () => {
    const chosen = whatIfs.map(whatIf => [whatIf.name, chosenValue(whatIf, values)]);
    void training.ask(Object.fromEntries(chosen) as IEstimateRequest);
  };
  const reset = () => {
    const nothing = whatIfs.map(({ name }) => [name, null]);
    void training.ask(Object.fromEntries(nothing) as IEstimateRequest);
  };
  return (
    <div className="jp-PaddleGpu-whatIf">
      <form
        onSubmit={event => {
          event.preventDefault();
          ask();
        }}
      >
        {shown.map(whatIf => (
          <label key={whatIf.name}>
            <span>{whatIf.label}</span>
            <Field
              whatIf={whatIf}
              value={values[whatIf.name] ?? ''}
              own={own[whatIf.name]}
              onChange={value => setValues({ ...values, [whatIf.name]: value })}
            />
          </label>
        ))}
        <div className="jp-PaddleGpu-actions">
          <button
            type="submit"
            className="jp-PaddleGpu-button jp-mod-quiet"
            disabled={training.isEstimating || JSON.stringify(values) === told}
          >
            {trans.__('Estimate with these')}
          </button>
          {asked.length > 0 && (
            <Button look="link" onClick={reset} disabled={training.isEstimating}>
              {trans.__('As in the notebook')}
            </Button>
          )}
        </div>
      </form>
    </div>
  );
}

/** A number to type, or the values to choose from. */
function Field(props: {
  whatIf: IWhatIf;
  value: string;
  own?: string;
  onChange: (value: string) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { whatIf, value, own, onChange } = props;
  if (!whatIf.choices.length) {
    return (
      <input
        className="jp-PaddleGpu-input"
        name={whatIf.name}
        type="number"
        min={whatIf.least ?? undefined}
        step={1}
        value={value}
        placeholder={own}
        onChange={event => onChange(event.target.value)}
      />
    );
  }
  return (
    <List name={whatIf.name} value={value} onChange={event => onChange(event.target.value)}>
      <option value="">{trans.__('unchanged')}</option>
      {whatIf.choices.map(choice => (
        <option key={String(choice.value)} value={String(choice.value)}>
          {choice.label}
        </option>
      ))}
    </List>
  );
}

/** The notebook's own values, which stay readable while others are asked for. */
function useOwnValues(estimate: IEstimate, training: Training): Values {
  const known = React.useRef<Values>({});
  for (const whatIf of training.whatIfs) {
    if (valueOf(training.request, whatIf.name) === null && !training.isEstimating) {
      const least = isInFacts(whatIf, training.facts) ? String(whatIf.least ?? '') : '';
      known.current[whatIf.name] = ownValue(estimate, whatIf.name) || least;
    }
  }
  return known.current;
}

function valuesOf(request: IEstimateRequest, whatIfs: readonly IWhatIf[]): Values {
  return Object.fromEntries(
    whatIfs.map(({ name }) => [name, String(valueOf(request, name) ?? '')])
  );
}

/** What a field asks for; null is the notebook's own. */
function chosenValue(whatIf: IWhatIf, values: Values): Value {
  const text = values[whatIf.name];
  if (!text || (whatIf.follows && !values[whatIf.follows])) {
    return null;
  }
  return whatIf.choices.length
    ? (whatIf.choices.find(({ value }) => String(value) === text)?.value ?? null)
    : Number(text);
}
