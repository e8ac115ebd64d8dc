/** What can be chosen for a job, as a form. What an engine cannot do is not offered. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IEngineFeatures, IImageChoice, IQueueView, IReceiver } from '../../domain';
import { percent, together } from '../../format';
import {
  type IChoice,
  movedTo,
  parseEnvironment,
  strayLines,
  writeEnvironment
} from '../../models/submit/choice';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Muted, Prose } from '../common/pieces';
import { DeviceChoice } from './deviceChoice';
import { Images } from './images';

const GIB = 2 ** 30;
/** So much of a device is offered; others by the terminal. */
const SHARES = [0.75, 0.5, 0.25];
const HOUR = 3600;

export interface IChoiceFormProps {
  model: PanelModel;
  training: Training;
  choice: IChoice;
  images: readonly IImageChoice[];
  /** Other images that are here, by name. */
  names: readonly string[];
  receivers: readonly IReceiver[];
  /** What the policy gives whoever submits; null: not known (yet). */
  queue: IQueueView | null;
  choose: (choice: IChoice) => void;
}

export function ChoiceForm(props: IChoiceFormProps): JSX.Element {
  const { trans } = useApp();
  const { model, training, choice, images } = props;
  const engine =
    model.engines.find(({ name }) => name === choice.engine) ?? model.engineOf(training);
  const change = (changed: Partial<IChoice>) => props.choose({ ...choice, ...changed });
  return (
    <div className="jp-PaddleGpu-choices">
      <Engines
        model={model}
        engine={engine}
        onChoose={next => props.choose(movedTo(choice, engine, next))}
      />
      <DeviceChoice
        model={model}
        training={training}
        engine={engine}
        choice={choice}
        change={change}
      />
      {engine?.shares && choice.gpus !== 0 && (
        <Select
          label={trans.__('Memory of each GPU')}
          value={choice.share === null ? '' : String(choice.share)}
          options={[
            ['', trans.__('as usual')],
            ['1', trans.__('all of it, alone')],
            ...SHARES.map(one => [String(one), percent(100 * one)] as const)
          ]}
          onChange={value => change({ share: value ? Number(value) : null })}
        />
      )}
      {engine?.containers && (
        <Images
          images={images}
          names={props.names}
          choice={choice}
          onCpu={choice.gpus === 0 || !engine.gpus}
          onChoose={image => change({ image })}
        />
      )}
      {engine?.memory_limit && (
        <Amount
          label={trans.__('Memory at most, GiB')}
          value={choice.memoryBytes}
          unit={GIB}
          onChange={memoryBytes => change({ memoryBytes })}
        />
      )}
      {engine?.time_limit && (
        <Amount
          label={trans.__('Time at most, hours')}
          value={choice.seconds}
          unit={HOUR}
          onChange={seconds => change({ seconds })}
        />
      )}
      <Select
        label={trans.__('Priority')}
        value={String(choice.priority)}
        options={[
          ['10', trans.__('before your other jobs')],
          ['0', trans.__('in its turn')],
          ['-10', trans.__('others may pass')]
        ]}
        note={givenBy(props.queue, trans)}
        onChange={value => change({ priority: Number(value) })}
      />
      <Lines
        label={trans.__('Environment, NAME=value on each line')}
        text={writeEnvironment(choice.environment)}
        refused={strayLines}
        onChange={text => change({ environment: parseEnvironment(text) })}
      />
      {engine?.containers && (
        <Lines
          label={trans.__('Data folders, one on each line')}
          text={(choice.data ?? []).join('\n')}
          onChange={text => {
            const data = text
              .split('\n')
              .map(line => line.trim())
              .filter(Boolean);
            change({ data: data.length ? data : null });
          }}
        />
      )}
      <Select
        label={trans.__('When it is done')}
        value={choice.result}
        options={[
          ['', trans.__('tell me')],
          ['open', trans.__('open the executed notebook')]
        ]}
        onChange={result => change({ result: result as IChoice['result'] })}
      />
      {props.receivers.length > 0 && (
        <Receivers
          receivers={props.receivers}
          chosen={choice.notify}
          onChoose={notify => change({ notify })}
        />
      )}
    </div>
  );
}

/** One of some values, each with its words. */
function Select(props: {
  label: string;
  value: string;
  options: (readonly [value: string, words: string])[];
  note?: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label>
      <span>{props.label}</span>
      <select
        className="jp-PaddleGpu-input"
        value={props.value}
        onChange={event => props.onChange(event.target.value)}
      >
        {props.options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      {props.note && (
        <span className="jp-PaddleGpu-muted jp-PaddleGpu-reason">{props.note}</span>
      )}
    </label>
  );
}

/** What the policy gives this user among all; empty where it says nothing. */
function givenBy(queue: IQueueView | null, trans: TranslationBundle): string {
  const { priority = 0, quota = null, shared = false } = queue ?? {};
  return together(
    shared && priority ? trans.__('The policy gives your jobs priority %1.', priority) : '',
    quota === null
      ? ''
      : trans._n(
          'The policy gives your jobs %1 device at once.',
          'The policy gives your jobs %1 devices at once.',
          quota
        )
  );
}

/** The pools that there are; one that cannot be used says why. */
function Engines(props: {
  model: PanelModel;
  engine?: IEngineFeatures;
  onChoose: (engine: IEngineFeatures) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { model, engine, onChoose } = props;
  const group = React.useId();
  return (
    <fieldset>
      <legend>{trans.__('Where')}</legend>
      {model.engines.map(item => (
        <div key={item.name}>
          <label>
            <input
              type="radio"
              name={group}
              checked={engine?.name === item.name}
              disabled={!item.available}
              onChange={() => onChoose(item)}
            />
            {item.title.message}
          </label>
          {item.problems.map((problem, index) => (
            <div key={index} className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
              <Prose text={together(problem.message, problem.hint)} />
            </div>
          ))}
        </div>
      ))}
    </fieldset>
  );
}

/** Who is told when it has ended; as the policy has it until somebody chooses. */
function Receivers(props: {
  receivers: readonly IReceiver[];
  chosen: string[] | null;
  onChoose: (names: string[] | null) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { receivers, chosen, onChoose } = props;
  const usual = receivers.filter(one => one.usual).map(({ name }) => name);
  const told = chosen ?? usual;
  const change = (name: string, isTold: boolean) => {
    const next = receivers
      .map(one => one.name)
      .filter(one => (one === name ? isTold : told.includes(one)));
    onChoose(next.join('\n') === usual.join('\n') ? null : next);
  };
  return (
    <fieldset>
      <legend>{trans.__('Who is told outside of this page')}</legend>
      {receivers.map(({ name, kind }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={told.includes(name)}
            onChange={event => change(name, event.target.checked)}
          />
          {name} <Muted>{kind}</Muted>
        </label>
      ))}
    </fieldset>
  );
}

/** A number in a unit that people use; empty is no limit of one's own. */
function Amount(props: {
  label: string;
  value: number | null;
  unit: number;
  onChange: (value: number | null) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { label, value, unit, onChange } = props;
  const [text, setText] = React.useState(value === null ? '' : String(value / unit));
  const most = Math.floor(Number.MAX_SAFE_INTEGER / unit);
  // JupyterLab takes no form with a field that is not valid, without a word.
  const [wrong, setWrong] = React.useState(false);
  return (
    <label>
      <span>{label}</span>
      <input
        className="jp-PaddleGpu-input"
        type="number"
        min={1 / unit}
        max={most}
        step="any"
        value={text}
        placeholder={trans.__('as usual')}
        onChange={event => {
          const { value: typed, validity } = event.target;
          setText(typed);
          setWrong(!validity.valid);
          onChange(typed && validity.valid ? Math.round(Number(typed) * unit) : null);
        }}
      />
      {wrong && (
        <span role="alert" className="jp-PaddleGpu-reason">
          {trans.__('Type a number above 0 and at most %1, or nothing.', most)}
        </span>
      )}
    </label>
  );
}

function Lines(props: {
  label: string;
  text: string;
  /** What of it cannot be taken. */
  refused?: (text: string) => string[];
  onChange: (text: string) => void;
}): JSX.Element {
  const { trans } = useApp();
  const [text, setText] = React.useState(props.text);
  const refused = props.refused?.(text) ?? [];
  return (
    <label>
      <span>{props.label}</span>
      <textarea
        className="jp-PaddleGpu-input"
        rows={2}
        spellCheck={false}
        value={text}
        onChange={event => {
          setText(event.target.value);
          props.onChange(event.target.value);
        }}
      />
      {refused.length > 0 && (
        <span role="status" className="jp-PaddleGpu-reason">
          {trans.__('Not taken: %1. Write NAME=value.', refused.join(', '))}
        </span>
      )}
    </label>
  );
}
