/** What is always in view: Submit with the notebook's name, what it will do in one line, and what is in its way. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IEngineFeatures, type IMessage, isEnded } from '../../domain';
import { bytes, duration, percent, together } from '../../format';
import { otherwise, shortImage } from '../../models/submit/choice';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { askedFor } from '../../models/estimate/whatIfs';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button, Name, Note } from '../common/pieces';
import { isEmpty, noCode } from '../head/factLine';
import { deviceNames } from '../devices/words';
import { Difference } from './difference';
import { Refusal } from './refusal';

export function Submit(props: { model: PanelModel; training: Training }): JSX.Element {
  const app = useApp();
  const { trans, commands } = app;
  const { model, training } = props;
  const { submission } = training;
  const id = React.useId();
  const engine = model.engineOf(training);
  const refusal = refuse(engine, training);
  const empty = !!training.facts && isEmpty(training.facts);
  const { decision, error } = submission;
  // What the copy cannot have is told beside its difference.
  const unchanged = (submission.changes?.refused ?? []).map(({ why }) => why.code);
  const hopeless =
    decision?.outcome === 'refuse' && !unchanged.includes(decision.reason.code)
      ? decision
      : null;
  const told = new Set([refusal?.code, hopeless?.reason.code, ...unchanged]);
  const hindrances = submission.hindrances.filter(
    ({ code }) => !told.has(code) && code !== error?.code
  );
  const different = differences(training, trans);
  const change = async () => {
    const { changeSubmission } = await import('../../pages');
    await changeSubmission(app, model, training);
  };
  return (
    <section className="jp-PaddleGpu-foot" aria-label={trans.__('Submit')}>
      <div className="jp-PaddleGpu-footNotes">
        <OnlyAsked training={training} />
        <Difference training={training} />
        {refusal && <Note kind="warning" message={refusal} />}
        {once(hindrances).map(problem => (
          <Note key={problem.code} kind="warning" message={problem} />
        ))}
        {error && !told.has(error.code) && <Note kind="error" message={error} />}
        {hopeless && <Refusal decision={hopeless} training={training} />}
        {decision?.outcome === 'wait' && <Refusal decision={decision} training={training} />}
      </div>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-submit">
        <Button
          look="main"
          // While it submits, a press is passed over: a button that is disabled loses the keyboard.
          disabled={!!refusal || empty}
          aria-busy={submission.isSubmitting}
          aria-describedby={id}
          title={[
            trans.__('Run %1 as a job, unsaved changes included', training.source.name),
            trans.__(
              'A submitted training runs on its own: you may close this page and come back.'
            )
          ].join('\n')}
          onClick={() => void commands.execute(CommandIDs.submit, { shown: true })}
        >
          <Name text={trans.__('Submit %1', training.source.name)} />
        </Button>
        <Button look="link" aria-haspopup="dialog" onClick={() => void change()}>
          {trans.__('Change…')}
        </Button>
      </div>
      <p id={id} className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {submission.isSubmitting
          ? trans.__('Being submitted; its step is traced first…')
          : empty
            ? noCode(trans)
            : summary(model, training, engine, trans)}
        {different.map(words => (
          <React.Fragment key={words}>
            {' · '}
            <b>{words}</b>
          </React.Fragment>
        ))}
      </p>
    </section>
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

/** Several of the same kind as one, with their common next step. */
function once(problems: readonly IMessage[]): IMessage[] {
  const kinds = new Map<string, IMessage>();
  for (const problem of problems) {
    const first = kinds.get(problem.code);
    const message = together(first?.message, problem.message);
    kinds.set(problem.code, { ...problem, message });
  }
  return [...kinds.values()];
}

/** Why a click would not lead to a job. */
function refuse(engine: IEngineFeatures | undefined, training: Training): IMessage | null {
  if (engine && !engine.available && engine.problems.length) {
    return engine.problems[0];
  }
  return training.factsError;
}

/** Where it runs, in which image, when. */
function summary(
  model: PanelModel,
  training: Training,
  engine: IEngineFeatures | undefined,
  trans: TranslationBundle
): string {
  const { placement } = training;
  const { choice, decision = placement?.decision } = training.submission;
  const said = decision ?? placement?.decision ?? null;
  const ids = choice.deviceIds.length ? choice.deviceIds : (said?.device_ids ?? []);
  const inventory = model.devicesOf(engine);
  const names = deviceNames(inventory?.devices ?? [], ids, trans);
  const known = said?.outcome === 'cpu' || choice.gpus === 0;
  const none = inventory !== null && !inventory.devices.some(d => !d.simulated);
  const place = names || (known || none ? trans.__('CPU') : '');
  const image =
    engine?.containers && !choice.image ? shortImage(placement?.image?.reference) : '';
  const ahead = model.jobs.list.filter(({ state }) => state === 'queued').length;
  const when =
    said?.outcome === 'wait'
      ? // The note above says for what.
        training.submission.decision
        ? ''
        : trans.__('has to wait')
      : ahead
        ? trans._n('%1 job waits before it', '%1 jobs wait before it', ahead)
        : said?.outcome === 'refuse'
          ? ''
          : !names && isTaken(model, engine)
            ? trans.__('starts when a running job has ended')
            : trans.__('starts now');
  return [engine?.title.message, place, image, when].filter(Boolean).join(' · ');
}

/** Whether as many jobs as may run without a device do so on the engine. */
function isTaken(model: PanelModel, engine: IEngineFeatures | undefined): boolean {
  const running = model.jobs.list.filter(
    ({ state, spec, device_ids }) =>
      state !== 'queued' &&
      !isEnded(state) &&
      spec.engine === engine?.name &&
      !device_ids.length
  );
  return running.length >= (engine?.cpu_slots ?? Infinity);
}

function tells(names: string[], trans: TranslationBundle): string {
  return names.length ? trans.__('tells %1', names.join(', ')) : trans.__('tells nobody');
}

/** What is otherwise than usual, in words. */
function differences(training: Training, trans: TranslationBundle): string[] {
  const { choice } = training.submission;
  const other = otherwise(choice);
  const asked = askedFor(training).flatMap(({ label, inJobs }) => (inJobs ? [label] : []));
  return [
    ...asked,
    other.share === 1 ? trans.__('whole GPUs') : '',
    other.share && other.share !== 1
      ? trans.__(
          '%1 of each GPU',
          other.share < 1 ? percent(100 * other.share) : bytes(other.share)
        )
      : '',
    other.priority ? trans.__('priority %1', other.priority) : '',
    shortImage(other.image),
    other.memoryBytes ? trans.__('at most %1', bytes(other.memoryBytes)) : '',
    other.seconds ? trans.__('at most %1', duration(other.seconds, trans)) : '',
    ...Object.keys(other.environment ?? {}).map(name => `${name}=…`),
    other.data ? trans._n('%1 data folder', '%1 data folders', other.data.length) : '',
    other.notify ? tells(other.notify, trans) : '',
    other.result === 'open' ? trans.__('opens when it is done') : ''
  ].filter(Boolean);
}
