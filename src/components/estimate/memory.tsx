/** Memory of one training step: one number large, what it is made of, what would help. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { type IEstimate, type Kind, KINDS } from '../../domain';
import { byteRange, bytes, duration } from '../../format';
import type { Training } from '../../models/training';
import { AskedFor } from './askedFor';
import { Bar, Busy, Button, Chip, Note, Prose, Section } from '../common/pieces';
import { useApp } from '../common/context';
import { Inside } from './inside';
import { LiveModels } from './liveModels';
import { Timeline } from './timeline';
import { Trainings } from './trainings';
import { WhatIfForm } from './whatIfForm';

/** Seconds below which an answer was known already. */
const INSTANT = 0.05;

/** The note of several trainings: the list of them is here. */
const LISTED = 'several_trainings';

export function Memory({ training }: { training: Training }): JSX.Element {
  const { trans } = useApp();
  const { estimate, estimateError, isEstimating } = training;
  return (
    <Section title={trans.__('Memory of one training step')}>
      {estimateError && (
        <Note kind="error" message={estimateError}>
          <Button onClick={() => void training.measure()}>{trans.__('Try again')}</Button>
        </Note>
      )}
      {isEstimating && <Busy>{trans.__('Tracing one training step…')}</Busy>}
      {!estimate && !isEstimating && !estimateError && <Invitation training={training} />}
      <LiveModels training={training} />
      {estimate && <Answer estimate={estimate} training={training} />}
    </Section>
  );
}

function Invitation({ training }: { training: Training }): JSX.Element {
  const { trans } = useApp();
  const { facts } = training;
  const trains = facts && facts.loop !== 'none';
  return (
    <div className="jp-PaddleGpu-invitation">
      <Button
        look={trains ? 'main' : 'quiet'}
        onClick={() => void training.measure()}
        disabled={!trains && !facts?.imports_paddle}
      >
        {trans.__('Estimate')}
      </Button>
      <span className="jp-PaddleGpu-muted">{expectation()}</span>
    </div>
  );

  /** What is seen by reading alone: the step itself may stand in a module that the notebook imports. */
  function expectation(): string {
    if (trains) {
      return trans.__(
        'Traces one step on the side. Nothing is trained, downloaded or written.'
      );
    }
    return facts?.imports_paddle
      ? trans.__(
          'No training step is in these cells. An estimate also finds one in what they import.'
        )
      : trans.__('There is no training step to estimate.');
  }
}

function Answer(props: { estimate: IEstimate; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { estimate, training } = props;
  const names = kindNames(trans);
  const total = estimate.peak_bytes ?? estimate.allocated_peak_bytes;
  const parts = estimate.breakdown;
  const shown = parts ? KINDS.filter(kind => parts[kind] > 0) : [];
  const kept = useKeptFocus(estimate);
  return (
    <div
      {...kept}
      className={`jp-PaddleGpu-estimate${training.stale || training.isEstimating ? ' jp-PaddleGpu-stale' : ''}`}
    >
      <Stop estimate={estimate} training={training} />
      <Trainings estimate={estimate} training={training} />
      {total !== null && (
        <div className="jp-PaddleGpu-answer">
          <span className="jp-PaddleGpu-big">{bytes(total)}</span>
          {estimate.low !== null && estimate.high !== null && estimate.high > estimate.low && (
            <span
              className="jp-PaddleGpu-muted"
              title={trans.__('What the driver may show: libraries differ in their workspace')}
            >
              {byteRange(estimate.low, estimate.high)}
            </span>
          )}
        </div>
      )}
      <p className="jp-PaddleGpu-muted jp-PaddleGpu-row jp-PaddleGpu-wrap">
        {target(estimate, trans)}
        {training.live && <Chip>{trans.__('%1 in the kernel', training.live)}</Chip>}
        <span className="jp-PaddleGpu-space" />
        {total !== null && (
          <span className="jp-PaddleGpu-faint">{evidence(estimate, trans)}</span>
        )}
      </p>
      <AskedFor training={training} />
      {training.stale && (
        <Note
          kind="info"
          message={{
            code: 'stale',
            message: trans.__('The notebook was edited since.'),
            hint: ''
          }}
        >
          <Button onClick={() => void training.measure()} disabled={training.isEstimating}>
            {trans.__('Estimate again')}
          </Button>
        </Note>
      )}
      <Timeline estimate={estimate} />
      {parts && total !== null && (
        <>
          <Bar
            label={trans.__('What the memory is made of')}
            parts={shown.map(kind => ({
              share: (100 * parts[kind]) / total,
              look: kind,
              title: `${names[kind]}: ${bytes(parts[kind])}`
            }))}
          />
          <dl className="jp-PaddleGpu-legend">
            {[...shown]
              .sort((a, b) => parts[b] - parts[a])
              .map(kind => (
                <div key={kind}>
                  <dt>
                    <i className={`jp-PaddleGpu-fill jp-mod-${kind}`} aria-hidden="true" />
                    {names[kind]}
                  </dt>
                  <dd>{bytes(parts[kind])}</dd>
                </div>
              ))}
          </dl>
        </>
      )}
      {estimate.notes
        .filter(({ code }) => code !== LISTED)
        .map((note, index) => (
          <Note key={index} kind="info" message={note} />
        ))}
      <Remedies estimate={estimate} training={training} />
      <WhatIfForm estimate={estimate} training={training} />
      <Inside estimate={estimate} />
    </div>
  );
}

/** Keeps the focus here when the advice that was pressed is gone with the estimate that it was for. */
function useKeptFocus(estimate: IEstimate): React.HTMLAttributes<HTMLDivElement> & {
  ref: React.RefObject<HTMLDivElement>;
} {
  const ref = React.useRef<HTMLDivElement>(null);
  const inside = React.useRef(false);
  React.useEffect(() => {
    if (inside.current && document.activeElement === document.body) {
      ref.current?.focus();
    }
  }, [estimate]);
  return {
    ref,
    tabIndex: -1,
    onFocus: () => (inside.current = true),
    onBlur: event => {
      // An element that goes while it has the focus has nobody to give it to.
      inside.current =
        !event.relatedTarget || event.currentTarget.contains(event.relatedTarget);
    }
  };
}

/** Each advice a button, with what it was computed to give. */
function Remedies(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  if (training.isDetailing && !estimate.remedies.length) {
    return <Busy>{trans.__('Computing what would help…')}</Busy>;
  }
  if (!estimate.remedies.length) {
    return null;
  }
  return (
    <div
      className="jp-PaddleGpu-remedies"
      role="group"
      aria-label={trans.__('What would help')}
    >
      {estimate.remedies.map((remedy, index) =>
        remedy.refused ? (
          <div key={index} className="jp-PaddleGpu-refused">
            {remedy.says.message} → <b>{bytes(remedy.peak_bytes)}</b>
            <div className="jp-PaddleGpu-muted">
              <Prose text={`${remedy.refused.message} ${remedy.refused.hint}`} />
            </div>
          </div>
        ) : (
          <Button
            key={index}
            disabled={training.isEstimating}
            title={trans.__(
              'Saves %1. Click to estimate with it; the job is run with it too.',
              bytes(remedy.saves_bytes)
            )}
            onClick={() => void training.ask({ ...remedy.request, details: undefined })}
          >
            {remedy.says.message} → <b>{bytes(remedy.peak_bytes)}</b>
          </Button>
        )
      )}
    </div>
  );
}

/** Where the notebook would end with an error. It can be submitted all the same. */
function Stop(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const { stop } = estimate;
  if (!stop) {
    return null;
  }
  const cell = stop.cell;
  const line = stop.line ?? 1;
  const isBehind = estimate.status === 'ok';
  return (
    <Note
      kind={isBehind ? 'warning' : 'error'}
      message={{
        code: 'would_stop',
        message:
          cell === null
            ? trans.__('The notebook would stop: %1', stop.error)
            : isBehind
              ? trans.__(
                  'Behind this training the notebook would stop in cell %1, line %2: %3',
                  cell + 1,
                  line,
                  stop.error
                )
              : trans.__(
                  'The notebook would stop in cell %1, line %2: %3',
                  cell + 1,
                  line,
                  stop.error
                ),
        hint: trans.__('Correct it before you submit, or the job ends there.')
      }}
    >
      {cell !== null && (
        <Button look="link" onClick={() => training.source.reveal(cell)}>
          {trans.__('Go to cell %1', cell + 1)}
        </Button>
      )}
    </Note>
  );
}

function evidence(estimate: IEstimate, trans: TranslationBundle): string {
  const names = {
    trace: trans.__('traced'),
    measured: trans.__('measured'),
    scan: trans.__('only read')
  };
  return estimate.seconds < INSTANT
    ? names[estimate.evidence]
    : `${names[estimate.evidence]} · ${duration(estimate.seconds, trans)}`;
}

function target(estimate: IEstimate, trans: TranslationBundle): string {
  if (estimate.status === 'needs_input') {
    return estimate.questions.length
      ? trans.__('A question above is open; with its answer this becomes a number.')
      : trans.__('There is no number for this; the note below says why.');
  }
  if (estimate.status === 'no_paddle') {
    return trans.__("The kernel's Python has no Paddle; the note below brings it.");
  }
  if (estimate.status === 'would_stop') {
    return trans.__('There is no number for a training that would stop.');
  }
  if (estimate.status === 'no_model') {
    return trans.__('No training step was found to trace.');
  }
  if (estimate.target === 'cpu') {
    return trans.__('on the CPU');
  }
  return estimate.device ? trans.__('on %1', estimate.device) : trans.__('on a GPU');
}

function kindNames(trans: TranslationBundle): Record<Kind, string> {
  return {
    parameters: trans.__('Parameters'),
    gradients: trans.__('Gradients'),
    optimizer_state: trans.__('Optimizer state'),
    activations: trans.__('Activations'),
    inputs: trans.__('Inputs'),
    workspace: trans.__('Workspace'),
    context: trans.__('Device context')
  };
}
