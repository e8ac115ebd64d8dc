/** What stands above all: the notebook, whether it fits, what trains in it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IDecision } from '../../domain';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Button, Name, Row, Space } from '../common/pieces';
import { deviceNames } from '../devices/words';
import { PRODUCT } from '../../tokens';
import { FactLine } from './factLine';

/** Notes of an estimate on what nobody knows without the data: what is taken for it decides sizes. */
const ASSUMED = /^(?:stand_in_|data_followed|unknown_shape)|_assumed$/;

export function Head({ model }: { model: PanelModel }): JSX.Element {
  const { trans } = useApp();
  const { training } = model;
  const { behind } = model.notebook;
  return (
    <div className="jp-PaddleGpu-head">
      <Row wrap>
        <h1
          className="jp-PaddleGpu-name"
          title={
            training
              ? trans.__('Follows the active notebook: %1', training.source.path)
              : undefined
          }
        >
          <Name text={training?.source.name ?? PRODUCT} />
        </h1>
        <Space />
        {training && <Fit model={model} training={training} />}
      </Row>
      {behind && (
        <Button look="link" onClick={() => model.notebook.leave()}>
          {trans.__('Back to %1', behind.name)}
        </Button>
      )}
      {training && <FactLine training={training} />}
    </div>
  );
}

/** Whether it fits or would stop, in one chip; while something runs, that it does. */
export function Fit(props: { model: PanelModel; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { model, training } = props;
  const running = model.jobs.list.filter(({ state }) => state === 'running').length;
  if (running) {
    return (
      <span className="jp-PaddleGpu-fitChip jp-mod-running" role="status">
        ● {trans.__('%1 running', running)}
      </span>
    );
  }
  const stop = training.estimate?.stop;
  if (stop) {
    return (
      <span
        className={`jp-PaddleGpu-fitChip jp-mod-refuse${training.stale ? ' jp-mod-stale' : ''}`}
        role="status"
        title={stop.error}
      >
        <span aria-hidden="true">✕</span>{' '}
        {stop.cell === null
          ? trans.__('would stop')
          : stop.is_script
            ? trans.__('would stop in line %1', stop.line ?? 1)
            : trans.__('would stop in cell %1', stop.cell + 1)}
      </span>
    );
  }
  const decision = training.submission.decision ?? training.placement?.decision;
  if (training.estimate?.status !== 'ok' || !decision) {
    return null;
  }
  const lacking = lacked(model, training);
  if (lacking) {
    return (
      <span className="jp-PaddleGpu-fitChip jp-mod-refuse" role="status" title={lacking}>
        <span aria-hidden="true">✕</span> {trans.__('would stop')}
      </span>
    );
  }
  const [sign, words] = inWords(decision, model, trans);
  const assumed = training.estimate.notes.filter(({ code }) => ASSUMED.test(code));
  return (
    <span
      className={`jp-PaddleGpu-fitChip jp-mod-${decision.outcome}${training.stale ? ' jp-mod-stale' : ''}`}
      role="status"
      title={[decision.reason, ...assumed].map(({ message }) => message).join('\n')}
    >
      <span aria-hidden="true">{sign}</span>{' '}
      {Object.keys(training.request.answers ?? {}).length
        ? trans.__('%1 with your answers', words)
        : assumed.length
          ? trans.__('%1 as assumed', words)
          : words}
    </span>
  );
}

/** Modules at whose import a job would end that runs in the kernel's Python; an image may have them. */
function lacked(model: PanelModel, training: Training): string {
  const engine = model.engineOf(training);
  if (!engine || engine.containers || engine.own_devices) {
    return '';
  }
  // What a file of requirements holds nobody knows here.
  const installs = (training.facts?.requirements ?? []).flatMap(line => line.split(/\s+/));
  if (installs.some(word => word.startsWith('-r') || word.startsWith('--req'))) {
    return '';
  }
  const installed = installs.map(word => word.split(/[=<>~![;]/)[0]);
  return (training.estimate?.packages ?? [])
    .map(({ module, install }) => install ?? module)
    .filter(name => !installed.includes(name))
    .join(', ');
}

function inWords(
  decision: IDecision,
  model: PanelModel,
  trans: TranslationBundle
): [string, string] {
  const { training } = model;
  const inventory = training && model.devicesOf(model.engineOf(training));
  const names = deviceNames(inventory?.devices ?? [], decision.device_ids, trans);
  switch (decision.outcome) {
    case 'run':
      return ['✓', names ? trans.__('fits %1', names) : trans.__('fits')];
    case 'cpu':
      return ['✓', trans.__('runs on the CPU')];
    case 'wait':
      return ['◷', trans.__('has to wait')];
    case 'refuse':
      return ['✕', decision.final ? trans.__('not accepted') : trans.__('does not fit')];
  }
}
