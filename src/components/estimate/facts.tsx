/** What trains: the facts of the notebook as chips, open questions, and what hinders reading. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IFact, INotebookFacts, IPlace, IQuestion, Value } from '../../domain';
import { count } from '../../format';
import type { Training } from '../../models/training';
import { Busy, Button, Chip, Note, Section } from '../common/pieces';
import { useApp } from '../common/context';

/** What code calls it when nothing is said about precision. */
const FULL_PRECISION = 'fp32';

export function Facts(props: { training: Training; retry: () => void }): JSX.Element {
  const { trans } = useApp();
  const { training } = props;
  const { facts, factsError, estimate } = training;
  return (
    <Section title={trans.__('What trains')}>
      {factsError && (
        <Note kind="error" message={factsError}>
          <Button onClick={props.retry}>{trans.__('Try again')}</Button>
        </Note>
      )}
      {!facts && !factsError && <Busy>{trans.__('Reading the notebook…')}</Busy>}
      {facts && !factsError && <FactChips training={training} />}
      {facts?.problems.map((problem, index) => (
        <Note key={index} kind="warning" message={problem} />
      ))}
      {estimate?.questions.map((question, index) => (
        <Question key={question.name || index} question={question} training={training} />
      ))}
    </Section>
  );
}

function FactChips({ training }: { training: Training }): JSX.Element {
  const { trans } = useApp();
  const { facts, estimate, request } = training;
  if (!facts) {
    return <></>;
  }
  if (facts.loop === 'none' && !estimate?.model) {
    return (
      <p className="jp-PaddleGpu-muted" role="status">
        {nothingTrains(facts, trans)}
      </p>
    );
  }
  const name = estimate?.model ?? (facts.model ? text(facts.model) : '');
  const batch = estimate?.batch_size ?? facts.batch_size?.value;
  const amp = estimate?.amp ?? facts.amp?.value;
  const optimizer = estimate?.optimizer ?? (facts.optimizer && text(facts.optimizer));
  const distribution = facts.distribution?.value;
  // Of several trainings the one that is shown has its own cell; what was read first may be another one's.
  const shown =
    estimate && estimate.trainings.length > 1
      ? estimate.trainings.find(({ id }) => id === estimate.training)
      : undefined;
  const placeOf = (fact: IFact | null | undefined) => (shown ? null : fact?.place);
  return (
    <div className="jp-PaddleGpu-chips">
      {name && <b className="jp-PaddleGpu-model">{name}</b>}
      {shown && <CellLink place={shown.where} training={training} />}
      {!!estimate?.parameters && (
        <Chip>{trans.__('%1 parameters', count(estimate.parameters))}</Chip>
      )}
      {optimizer && (
        <Chip title={facts.optimizer?.source}>
          {optimizer}
          <CellLink place={placeOf(facts.optimizer)} training={training} />
        </Chip>
      )}
      {batch !== undefined && batch !== null ? (
        <Chip title={facts.batch_size?.source}>
          {trans.__('batch %1', String(batch))}
          {!request.batch_size && (
            <CellLink place={placeOf(facts.batch_size)} training={training} />
          )}
        </Chip>
      ) : (
        facts.batch_size && (
          <Chip title={facts.batch_size.source}>
            {trans.__('batch computed')}
            <CellLink place={placeOf(facts.batch_size)} training={training} />
          </Chip>
        )
      )}
      <Chip title={facts.amp?.source}>
        {amp && amp !== 'off' ? trans.__('mixed precision %1', String(amp)) : FULL_PRECISION}
        {amp && amp !== 'off' && <CellLink place={placeOf(facts.amp)} training={training} />}
      </Chip>
      {typeof facts.epochs?.value === 'number' && (
        <Chip>{trans._n('%1 epoch', '%1 epochs', facts.epochs.value)}</Chip>
      )}
      {distribution && distribution !== 'none' && (
        <Chip title={facts.distribution?.source}>
          {estimate?.devices && estimate.devices > 1
            ? trans.__('one of %1 devices', estimate.devices)
            : trans.__('several devices')}
          <CellLink place={facts.distribution?.place} training={training} />
        </Chip>
      )}
      {estimate?.inputs.slice(0, 2).map(input => (
        <Chip key={input} title={trans.__('What the loader gives in a step')}>
          {input}
        </Chip>
      ))}
    </div>
  );
}

/** Why there is nothing to show, as far as can be said: what could not be read may well train. */
function nothingTrains(facts: INotebookFacts, trans: TranslationBundle): string {
  if (!facts.cells.some(cell => cell.source.trim())) {
    return trans.__('There is no code in this notebook yet.');
  }
  if (facts.problems.length) {
    return trans.__('Nothing that could be read here trains a Paddle model.');
  }
  return facts.imports_paddle
    ? trans.__('Nothing in this notebook trains a Paddle model yet.')
    : trans.__('This notebook does not use Paddle. It can still be run as a job.');
}

/** Jumps to the cell where a fact stands. Cells are counted from 1 for people. */
function CellLink(props: {
  place: IPlace | null | undefined;
  training: Training;
}): JSX.Element | null {
  const { trans } = useApp();
  const { place, training } = props;
  if (!place) {
    return null;
  }
  return (
    <Button
      look="link"
      title={trans.__('Go to the cell where this stands')}
      onClick={() => training.source.reveal(place.cell)}
    >
      {trans.__('cell %1', place.cell + 1)}
    </Button>
  );
}

/** How a batch is written. */
const BATCH_EXAMPLE = 'float32[32,3,224,224] int64[32,1]';

/** Characters that an answer takes, by the kind of its question. */
const WIDTHS: Record<IQuestion['kind'], number> = {
  value: 6,
  environment: 10,
  path: 24,
  batch: 32
};

function Question(props: { question: IQuestion; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { question, training } = props;
  const given = training.request.answers?.[question.name] ?? question.suggestion;
  const [value, setValue] = React.useState(given === null ? '' : String(given));
  // An environment variable is text, and what a batch looks like is no number either.
  const isText = question.kind === 'environment' || question.kind === 'batch';
  const use = () => {
    if (value.trim()) {
      void training.answer(question.name, isText ? value.trim() : parse(value.trim()));
    }
  };
  return (
    <Note kind="warning" message={question.why}>
      {question.name && (
        <>
          <label className="jp-PaddleGpu-row jp-PaddleGpu-question">
            <code>
              {question.name}
              {question.kind === 'environment' ? '=' : ' ='}
            </code>
            <input
              className="jp-PaddleGpu-input"
              value={value}
              size={WIDTHS[question.kind]}
              placeholder={question.kind === 'batch' ? BATCH_EXAMPLE : ''}
              spellCheck={false}
              data-kind={question.kind}
              onChange={event => setValue(event.target.value)}
              onKeyDown={event => event.key === 'Enter' && use()}
            />
          </label>
          <Button onClick={use} disabled={!value.trim() || training.isEstimating}>
            {trans.__('Use')}
          </Button>
        </>
      )}
      <CellLink place={question.where} training={training} />
    </Note>
  );
}

/** A name as code would show it: the last part of a dotted one. */
function text(fact: IFact): string {
  const name = fact.value === null ? fact.source : String(fact.value);
  return name.replace(/\(.*$/s, '').split('.').pop() ?? name;
}

/** What a person typed, as the value that Python would see. */
export function parse(value: string): Value {
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) {
    return Number(value);
  }
  const words: Record<string, Value> = {
    true: true,
    false: false,
    none: null
  };
  const word = value.toLowerCase();
  return word in words ? words[word] : value.replace(/^(['"])(.*)\1$/, '$2');
}
