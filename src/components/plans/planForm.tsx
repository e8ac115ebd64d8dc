/** In the submit dialog: when it runs, with the next dates, and several values for the notebook's variables. */

import * as React from 'react';

import type { ApiError } from '../../api';
import type { IDevice, IMessage, IVariable } from '../../domain';
import { together } from '../../format';
import {
  type IPlanChoice,
  ownZone,
  spaceOf,
  type When,
  whenOf
} from '../../models/plans/planChoice';
import type { Planner } from '../../models/plans/plans';
import { runsOf } from '../../models/plans/values';
import { useApp, useInView } from '../common/context';
import { Muted, Note, Prose, List } from '../common/pieces';
import { Typed } from '../common/typed';
import { deviceName, markedName, shortName } from '../devices/words';
import { severalHint, SweepOptions } from './sweepOptions';
import { VariableName } from './variableName';
import { dateIn, writtenValue } from './words';

/** Milliseconds after the last key before the dates are asked for. */
const TYPED = 300;
/** Of a price; a form with less is not taken. */
const LEAST = 1e-6;
const PRESETS = ['0 2 * * *', '0 2 * * 1-5', '0 2 * * 6'] as const;

export function PlanForm(props: {
  plan: IPlanChoice;
  planner: Planner;
  devices: readonly IDevice[];
  variables: readonly IVariable[];
  noCost: IMessage | null;
  change: (change: Partial<IPlanChoice>) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { plan, planner, devices, variables, noCost, change } = props;
  const group = React.useId();
  // One that is lost is never free.
  const free = devices.filter(device => !device.simulated && !device.problem);
  const ways: [When, string, boolean][] = [
    ['now', trans.__('at once'), true],
    ['at', trans.__('at a time'), true],
    ['cron', trans.__('again and again'), true],
    ['free', trans.__('when a device is free'), free.length > 0],
    ['cost', trans.__('when an hour costs less than'), !noCost]
  ];
  const space = spaceOf(plan, variables);
  // Somebody who clears a field is still at it; which variables there are is not known at first.
  const [isOpen] = React.useState(Object.values(plan.values).some(text => text.trim()));
  const error = useInView<HTMLDivElement>(!!plan.error);
  return (
    <>
      <div ref={error}>{plan.error && <Note kind="error" message={plan.error} />}</div>
      <fieldset>
        <legend>{trans.__('When')}</legend>
        {ways.map(([when, name, offered]) => (
          <React.Fragment key={when}>
            <label>
              <input
                type="radio"
                name={group}
                checked={plan.when === when}
                disabled={!offered}
                onChange={() =>
                  change({
                    when,
                    ...(when === 'free' && !plan.device ? { device: free[0]?.id ?? '' } : {})
                  })
                }
              />
              {name}
            </label>
            {when === 'cost' && noCost && (
              <div className="jp-PaddleGpu-muted jp-PaddleGpu-reason">{noCost.message}</div>
            )}
            {plan.when === when && when !== 'now' && (
              <div className="jp-PaddleGpu-whenFields">
                <Way plan={plan} planner={planner} devices={free} change={change} />
              </div>
            )}
          </React.Fragment>
        ))}
      </fieldset>
      {plan.when === 'now' && variables.length > 0 && (
        <details open={isOpen}>
          <summary>{trans.__('Try several values')}</summary>
          <Muted as="p" small>
            {severalHint(trans)}
          </Muted>
          {variables
            .filter(({ name, role }) => name || role === 'batch_size')
            .map(variable => {
              const key = variable.name || variable.role;
              return (
                <label key={key} className="jp-PaddleGpu-field">
                  <VariableName variable={variable} />
                  <Typed
                    value={plan.values[key] ?? ''}
                    placeholder={writtenValue(variable.value)}
                    take={text => change({ values: { ...plan.values, [key]: text } })}
                  />
                </label>
              );
            })}
          {space && (
            <>
              <SweepOptions
                choice={plan.sweep}
                runs={runsOf(Object.values(space))}
                choose={sweep => change({ sweep })}
              />
              <OnlyThis />
            </>
          )}
        </details>
      )}
      {plan.when !== 'now' && variables.length > 0 && (
        <Muted as="p" small>
          {trans.__('Several values are tried at once only, not at another time.')}
        </Muted>
      )}
    </>
  );
}

/** What is asked of a time that is not now, beneath its name. */
function Way(props: {
  plan: IPlanChoice;
  planner: Planner;
  devices: readonly IDevice[];
  change: (change: Partial<IPlanChoice>) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { plan, planner, devices, change } = props;
  return (
    <>
      {plan.when === 'at' && (
        <Typed
          type="datetime-local"
          required
          aria-label={trans.__('Time')}
          value={plan.at}
          take={at => change({ at })}
        />
      )}
      {plan.when === 'cron' && <Cron plan={plan} change={change} />}
      {plan.when === 'free' && (
        <List
          aria-label={trans.__('Device that is waited for')}
          value={plan.device}
          onChange={event => change({ device: event.target.value })}
        >
          {devices.map(device => (
            <option key={device.id} value={device.id}>
              {deviceName(device, trans)} {markedName(shortName(device), device.checked, trans)}
            </option>
          ))}
        </List>
      )}
      {plan.when === 'cost' && (
        <>
          <Typed
            type="number"
            required
            min={LEAST}
            step="any"
            aria-label={trans.__('Price of an hour')}
            value={plan.below}
            take={below => change({ below })}
          />
          {!(Number(plan.below) >= LEAST) && (
            <div role="status" className="jp-PaddleGpu-small jp-PaddleGpu-muted">
              {trans.__('Type a price above 0.')}
            </div>
          )}
        </>
      )}
      {(plan.when === 'at' || plan.when === 'cron') && <Dates plan={plan} planner={planner} />}
      <List
        aria-label={trans.__('What is run then')}
        value={plan.source}
        onChange={event => change({ source: event.target.value as IPlanChoice['source'] })}
      >
        <option value="disk">{trans.__('the notebook as it is on the disk then')}</option>
        <option value="saved">{trans.__('the notebook as it is now')}</option>
      </List>
      <OnlyThis />
    </>
  );
}

/** That no other button of the dialog takes it. */
function OnlyThis(): JSX.Element {
  const { trans } = useApp();
  return (
    <Muted as="p" small>
      {trans.__('For this submit alone: “Keep” leaves it out.')}
    </Muted>
  );
}

function Cron(props: {
  plan: IPlanChoice;
  change: (change: Partial<IPlanChoice>) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { plan, change } = props;
  const names = [
    trans.__('every night at 2'),
    trans.__('on weekdays at 2'),
    trans.__('on Saturdays at 2')
  ];
  const preset = PRESETS.indexOf(plan.cron as (typeof PRESETS)[number]);
  return (
    <>
      <List
        aria-label={trans.__('How often')}
        value={preset}
        onChange={event => {
          const chosen = PRESETS[Number(event.target.value)];
          if (chosen) {
            change({ cron: chosen });
          }
        }}
      >
        {names.map((name, index) => (
          <option key={name} value={index}>
            {name}
          </option>
        ))}
        <option value={-1}>{trans.__('as written below')}</option>
      </List>
      <Typed
        aria-label={trans.__('Cron expression: minute, hour, day, month, day of the week')}
        required
        spellCheck={false}
        value={plan.cron}
        take={cron => change({ cron })}
      />
    </>
  );
}

/** When that is, as the server reads it. */
function Dates({ plan, planner }: { plan: IPlanChoice; planner: Planner }): JSX.Element {
  const { trans, language } = useApp();
  const [dates, setDates] = React.useState<number[]>([]);
  const [error, setError] = React.useState<ApiError | null>(null);
  const typed = plan.when === 'at' ? plan.at : plan.cron;
  React.useEffect(() => {
    let current = true;
    const timer = window.setTimeout(() => {
      const when = whenOf(plan);
      if (!typed || !when) {
        setDates([]);
        setError(null);
        return;
      }
      planner.dates(when).then(
        found => {
          if (current) {
            setDates(found);
            setError(null);
          }
        },
        (reason: ApiError) => {
          if (current) {
            setDates([]);
            setError(reason);
          }
        }
      );
    }, TYPED);
    return () => {
      current = false;
      window.clearTimeout(timer);
    };
  }, [plan.when, typed]);
  return (
    <div role="status" className="jp-PaddleGpu-small jp-PaddleGpu-muted">
      {!typed ? (
        plan.when === 'at' ? (
          trans.__('Type a time.')
        ) : (
          trans.__('Type five fields, as 0 2 * * *.')
        )
      ) : error ? (
        <Prose text={together(error.message, error.hint)} />
      ) : (
        dates.length > 0 &&
        trans.__(
          'next: %1 (%2)',
          dates.map(date => dateIn(date, '', language)).join(' · '),
          ownZone()
        )
      )}
    </div>
  );
}
