/** An estimate in words: how it was found, what its kinds of memory are called, why there is none. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IEstimate, IPlace, Kind } from '../../domain';
import { duration } from '../../format';
import type { Training } from '../../models/estimate/training';

/** Seconds below which an answer was known already. */
const INSTANT = 0.05;

export function evidence(estimate: IEstimate, trans: TranslationBundle): string {
  const names = {
    trace: trans.__('traced'),
    measured: trans.__('measured'),
    scan: trans.__('only read')
  };
  return estimate.seconds < INSTANT
    ? names[estimate.evidence]
    : `${names[estimate.evidence]} · ${duration(estimate.seconds, trans)}`;
}

/** Why there is no number; empty where there is one. */
export function missing(estimate: IEstimate, trans: TranslationBundle): string {
  if (estimate.status === 'needs_input') {
    return trans.__('A question above is open; with its answer this becomes a number.');
  }
  if (estimate.status === 'no_paddle') {
    return trans.__("The kernel's Python has no Paddle; the note below brings it.");
  }
  if (estimate.status === 'no_package') {
    return trans.__(
      "The kernel's Python lacks a package; once it is installed there is a number."
    );
  }
  if (estimate.status === 'static_graph') {
    return trans.__(
      'A static graph trains here, of which there is no figure; the note below says where.'
    );
  }
  if (estimate.status === 'would_stop') {
    return trans.__('There is no number for a training that would stop.');
  }
  if (estimate.status === 'no_model' || estimate.status === 'unsupported') {
    return estimate.notes.length
      ? trans.__('There is no number for this; the note below says why.')
      : trans.__('No training step was found to trace.');
  }
  return '';
}

export function kindNames(trans: TranslationBundle): Record<Kind, string> {
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

/** Where something stands: a script has lines, and no cells. */
export function placeWord(place: IPlace, training: Training, trans: TranslationBundle): string {
  return training.facts?.is_script
    ? trans.__('line %1', place.line)
    : trans.__('cell %1', place.cell + 1);
}
