/** Submit: one button, what it will do in one line, and the choices behind “Change…”. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IDevice, IEngineFeatures, IMessage } from '../../domain';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/training';
import { askedFor } from '../../models/whatIfs';
import { CommandIDs } from '../../tokens';
import { Busy, Button, Note, Prose, Section } from '../common/pieces';
import { useApp, useInView } from '../common/context';
import { Difference } from './difference';
import { Refusal } from './refusal';

export function Submit(props: { model: PanelModel; training: Training }): JSX.Element {
  const { trans, commands } = useApp();
  const { model, training } = props;
  const [open, setOpen] = React.useState(false);
  const id = React.useId();
  const engine = model.engineOf(training);
  const refusal = refuse(engine, training);
  const blocked = !!refusal || training.isSubmitting;
  const { decision, submitError } = training;
  const hopeless = decision?.outcome === 'refuse' ? decision : null;
  const told = new Set([
    refusal?.code,
    hopeless?.reason.code,
    ...(training.changes?.refused ?? []).map(({ why }) => why.code)
  ]);
  const hindrances = training.hindrances.filter(({ code }) => !told.has(code));
  const button = useInView<HTMLDivElement>(training.isSubmitting);
  const answer = useInView<HTMLDivElement>(!!submitError);
  return (
    <Section title={trans.__('Submit')}>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-submit" ref={button}>
        <Button
          look="main"
          disabled={blocked}
          aria-describedby={id}
          onClick={() => void commands.execute(CommandIDs.submit, { shown: true })}
        >
          {training.isSubmitting ? trans.__('Submitting…') : trans.__('Submit training')}
        </Button>
        <Button look="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {trans.__('Change…')}
        </Button>
      </div>
      <p id={id} className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {summary(model, training, engine, trans)}
      </p>
      <OnlyAsked training={training} />
      <Difference training={training} />
      {refusal && <Note kind="warning" message={refusal} />}
      {hindrances.map(problem => (
        <Note key={problem.code} kind="warning" message={problem} />
      ))}
      <div ref={answer}>
        {submitError && submitError.code !== hopeless?.reason.code && (
          <Note kind="error" message={submitError} />
        )}
        {hopeless && <Refusal decision={hopeless} training={training} />}
        {decision?.outcome === 'wait' && <Refusal decision={decision} training={training} />}
      </div>
      {open && <Choices model={model} training={training} engine={engine} />}
    </Section>
  );
}

/** What was asked of the estimate and is not in the notebook, so that nobody waits for a job with it. */
function OnlyAsked({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const labels = askedFor(training).flatMap(({ label, inJobs }) => (inJobs ? [] : [label]));
  return labels.length ? (
    <Note
      kind="info"
      message={{
        code: 'only_asked',
        message: trans.__('Not all that is asked for is in the job.'),
        hint: trans.__('Only in the estimate: %1.', labels.join(' · '))
      }}
    />
  ) : null;
}

function Choices(props: {
  model: PanelModel;
  training: Training;
  engine?: IEngineFeatures;
}): JSX.Element {
  const { trans } = useApp();
  const { model, training, engine } = props;
  const { choice } = training;
  const inventory = model.devicesOf(engine);
  const devices = (inventory?.devices ?? []).filter(device => !device.simulated);
  const group = React.useId();
  const place = choice.gpus === 0 ? 'cpu' : choice.deviceIds.length ? 'devices' : 'auto';
  const toggle = (device: IDevice) => {
    const several = engine?.several_devices ?? false;
    const others = several ? choice.deviceIds.filter(id => id !== device.id) : [];
    const deviceIds = choice.deviceIds.includes(device.id) ? others : [...others, device.id];
    training.choose({ deviceIds, gpus: deviceIds.length || null });
  };
  // Devices that were chosen are nobody's on an engine that has others.
  const kept = (next: IEngineFeatures) =>
    choice.deviceIds.length && (next.own_devices || engine?.own_devices)
      ? { gpus: null, deviceIds: [] }
      : {};
  return (
    <div className="jp-PaddleGpu-choices">
      <fieldset>
        <legend>{trans.__('Engine')}</legend>
        {model.engines.map(item => (
          <div key={item.name}>
            <label>
              <input
                type="radio"
                name={`${group}-engine`}
                checked={engine?.name === item.name}
                disabled={!item.available}
                onChange={() => training.choose({ engine: item.name, ...kept(item) })}
              />
              {item.title.message}
            </label>
            {item.problems.map((problem, index) => (
              <div key={index} className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
                <Prose text={[problem.message, problem.hint].filter(Boolean).join(' ')} />
              </div>
            ))}
          </div>
        ))}
      </fieldset>
      <fieldset>
        <legend>{trans.__('Device')}</legend>
        <label>
          <input
            type="radio"
            name={`${group}-device`}
            checked={place === 'auto'}
            onChange={() => training.choose({ gpus: null, deviceIds: [] })}
          />
          {trans.__('The best that fits')}
        </label>
        <label>
          <input
            type="radio"
            name={`${group}-device`}
            checked={place === 'cpu'}
            onChange={() => training.choose({ gpus: 0, deviceIds: [] })}
          />
          {trans.__('CPU')}
        </label>
        {!inventory && engine?.own_devices && <Busy>{trans.__('Looking for devices…')}</Busy>}
        {devices.map(device => (
          <label key={device.id}>
            <input
              type="checkbox"
              checked={choice.deviceIds.includes(device.id)}
              disabled={engine && (!engine.gpus || engine.assigns_devices)}
              onChange={() => toggle(device)}
            />
            {trans.__('GPU %1', device.index)} {device.name}
          </label>
        ))}
        {devices.length > 0 && engine && !engine.gpus && (
          <div className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
            {trans.__('This engine runs on the CPU only.')}
          </div>
        )}
        {devices.length > 0 && engine?.gpus && engine.assigns_devices && (
          <div className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
            {trans.__('This engine gives each job its devices itself.')}
          </div>
        )}
      </fieldset>
    </div>
  );
}

/** Why a click would not lead to a job. */
function refuse(engine: IEngineFeatures | undefined, training: Training): IMessage | null {
  if (engine && !engine.available && engine.problems.length) {
    return engine.problems[0];
  }
  return training.factsError;
}

function summary(
  model: PanelModel,
  training: Training,
  engine: IEngineFeatures | undefined,
  trans: TranslationBundle
): string {
  const { placement, choice } = training;
  const decision = training.decision ?? placement?.decision;
  const ids = choice.deviceIds.length ? choice.deviceIds : (decision?.device_ids ?? []);
  const inventory = model.devicesOf(engine);
  const names = (inventory?.devices ?? [])
    .filter(device => ids.includes(device.id))
    .map(device => trans.__('GPU %1', device.index));
  const known = decision?.outcome === 'cpu' || choice.gpus === 0;
  const none = inventory !== null && !inventory.devices.some(d => !d.simulated);
  const place = names.join(', ') || (known || none ? trans.__('CPU') : '');
  const image = engine?.containers ? placement?.image?.reference : '';
  return [
    engine?.title.message,
    place,
    image,
    ...askedFor(training).flatMap(({ label, inJobs }) => (inJobs ? [label] : [])),
    trans.__('unsaved changes included')
  ]
    .filter(Boolean)
    .join(' · ');
}
