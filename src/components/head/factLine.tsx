/** What trains, in one line: each fact leads to the cell where it stands. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IEstimate, IFact, INotebookFacts, IPlace } from '../../domain';
import { count, plain } from '../../format';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';
import { Trainings } from '../estimate/trainings';
import { placeWord } from '../estimate/words';

/** What code calls it when nothing is said about precision. */
const FULL_PRECISION = 'fp32';

export function FactLine({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { facts, factsError, estimate, request } = training;
  if (!facts || factsError) {
    return null;
  }
  if (facts.loop === 'none' && !estimate?.model) {
    return (
      <p className="jp-PaddleGpu-muted" role="status">
        {nothingTrains(facts, trans)}
      </p>
    );
  }
  // What code makes has no name yet: its source is the optimizer's argument.
  const isNamed = facts.model && facts.model.how !== 'computed';
  const name = estimate?.model ?? (isNamed && facts.model ? text(facts.model) : '');
  const batch = estimate?.batch_size ?? facts.batch_size?.value ?? null;
  const amp = estimate?.amp ?? facts.amp?.value;
  const isMixed = !!amp && amp !== 'off';
  const optimizer = estimate?.optimizer ?? (facts.optimizer && text(facts.optimizer));
  const distribution = facts.distribution?.value;
  // Of several trainings the one that is shown has its own cell; what was read first may be another one's.
  const shown =
    estimate && estimate.trainings.length > 1
      ? estimate.trainings.find(({ id }) => id === estimate.training)
      : undefined;
  const placeOf = (fact: IFact | null | undefined) => (shown ? null : (fact?.place ?? null));
  const one = (words: string, place: IPlace | null, title?: string) => (
    <span key={words}>
      <FactWord words={words} place={place} title={title} training={training} />
    </span>
  );
  return (
    <>
      <div className="jp-PaddleGpu-facts">
        {name && (
          <span className="jp-PaddleGpu-model">
            {one(name, shown ? shown.where : placeOf(facts.model))}
          </span>
        )}
        {!!estimate?.parameters &&
          one(count(estimate.parameters), null, parameters(estimate, trans))}
        {optimizer && one(optimizer, placeOf(facts.optimizer), facts.optimizer?.source)}
        {batch !== null
          ? one(
              trans.__('batch %1', plain(batch)),
              request.batch_size ? null : placeOf(facts.batch_size),
              facts.batch_size?.source
            )
          : facts.batch_size &&
            one(trans.__('batch computed'), placeOf(facts.batch_size), facts.batch_size.source)}
        {isMixed
          ? one(
              trans.__('mixed precision %1', String(amp)),
              placeOf(facts.amp),
              facts.amp?.source
            )
          : one(FULL_PRECISION, null, trans.__('Precision'))}
        {distribution &&
          distribution !== 'none' &&
          one(
            estimate?.devices && estimate.devices > 1
              ? trans.__('one of %1 devices', estimate.devices)
              : trans.__('several devices'),
            facts.distribution?.place ?? null,
            facts.distribution?.source
          )}
      </div>
      {estimate && <Trainings estimate={estimate} training={training} />}
    </>
  );
}

/** How many parameters, and how many of them are trained where that is not all. */
function parameters(estimate: IEstimate, trans: TranslationBundle): string {
  const every = count(estimate.parameters ?? 0);
  const trained = estimate.trainable_parameters;
  return trained === null || trained === estimate.parameters
    ? trans.__('%1 parameters', every)
    : trans.__('%1 parameters, %2 of them trainable', every, count(trained));
}

/** One fact: a way to its cell where that is known. */
function FactWord(props: {
  words: string;
  place: IPlace | null;
  title?: string;
  training: Training;
}): JSX.Element {
  const { trans } = useApp();
  const { words, place, title, training } = props;
  if (!place) {
    return <span title={title}>{words}</span>;
  }
  return (
    <button
      type="button"
      className="jp-PaddleGpu-fact"
      title={[title, goThere(place, training, trans)].filter(Boolean).join('\n')}
      aria-label={`${words}, ${goThere(place, training, trans)}`}
      onClick={() => training.source.reveal(place.cell)}
    >
      {words}
    </button>
  );
}

/** What a click on a fact does. */
function goThere(place: IPlace, training: Training, trans: TranslationBundle): string {
  return training.facts?.is_script
    ? trans.__('Open the script')
    : trans.__('Go to cell %1', place.cell + 1);
}

/** Whether there is nothing that could run. */
export function isEmpty({ cells }: INotebookFacts): boolean {
  return !cells.some(cell => cell.source.trim());
}

export function noCode(trans: TranslationBundle): string {
  return trans.__('There is no code in this notebook yet.');
}

/** Why there is nothing to show, as far as can be said: what could not be read may well train. */
function nothingTrains(facts: INotebookFacts, trans: TranslationBundle): string {
  if (isEmpty(facts)) {
    return noCode(trans);
  }
  if (facts.problems.length) {
    return trans.__('Nothing that could be read here trains a Paddle model.');
  }
  return facts.imports_paddle
    ? trans.__('Nothing in this notebook trains a Paddle model yet.')
    : trans.__('This notebook does not use Paddle. It can still be run as a job.');
}

/** Jumps to the cell where a fact stands. Cells are counted from 1 for people. */
export function CellLink(props: {
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
      title={goThere(place, training, trans)}
      onClick={() => training.source.reveal(place.cell)}
    >
      {placeWord(place, training, trans)}
    </Button>
  );
}

/** A name as code would show it: the last part of a dotted one. */
function text(fact: IFact): string {
  const name = fact.value === null ? fact.source : String(fact.value);
  return name.replace(/\(.*$/s, '').split('.').pop() ?? name;
}
