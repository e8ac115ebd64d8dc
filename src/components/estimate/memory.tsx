/** Memory of one training step: one number large, its course over the step, what it is made of. */

import * as React from 'react';

import type { IEstimate, IMessage } from '../../domain';
import { byteRange, bytes, together } from '../../format';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Info } from '../common/info';
import { Button, Chip, Muted, Note } from '../common/pieces';
import { markedName } from '../devices/words';
import { AskedFor } from './askedFor';
import { BatchCurve } from './batchCurve';
import { LATE } from './advice';
import { Breakdown } from './breakdown';
import { LiveModels } from './liveModels';
import { Silhouette } from './silhouette';
import { Stop } from './stop';
import { Target } from './target';
import { Timeline } from './timeline';
import { Tracing } from './tracing';
import { called } from './trainings';
import { evidence, missing } from './words';

/** The note of several trainings: the list of them is in the head. */
const LISTED = 'several_trainings';
/** Notes on what the range rests on stand behind its ⓘ. */
const isBasis = ({ code }: IMessage) => /^(?:narrow|widen)ed_by_/.test(code);

export function Memory(props: { training: Training; model: PanelModel | null }): JSX.Element {
  const { trans } = useApp();
  const { training, model } = props;
  const { estimate, isEstimating } = training;
  // That nobody answers stands at the panel's head already.
  const problem = model?.events.connection === 'offline' ? null : training.estimateError;
  return (
    <section
      className="jp-PaddleGpu-section jp-mod-leading"
      aria-label={trans.__('Memory of one training step')}
    >
      {problem && (
        <Note kind="error" message={problem}>
          <Button onClick={() => void training.measure()}>{trans.__('Try again')}</Button>
        </Note>
      )}
      {isEstimating && !estimate && (
        <>
          <Tracing training={training} />
          <Silhouette busy />
        </>
      )}
      {!estimate && !isEstimating && !problem && <Invitation training={training} />}
      <LiveModels training={training} />
      {estimate && <Answer estimate={estimate} training={training} model={model} />}
    </section>
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
      <Muted>{expectation()}</Muted>
      {trains && <Silhouette />}
    </div>
  );

  /** What is seen by reading alone: the step itself may stand in a module that the notebook imports. */
  function expectation(): string {
    if (trains) {
      return trans.__(
        'Traces one step on the side. Nothing is trained, downloaded or written.'
      );
    }
    if (!facts) {
      return ''; // it is being read
    }
    return facts.imports_paddle
      ? trans.__(
          'No training step is in these cells. An estimate also finds one in what they import.'
        )
      : trans.__('There is no training step to estimate.');
  }
}

function Answer(props: {
  estimate: IEstimate;
  training: Training;
  model: PanelModel | null;
}): JSX.Element {
  const { trans } = useApp();
  const { estimate, training, model } = props;
  const isOld = training.stale || training.isEstimating || training.isRecalled;
  const total = estimate.peak_bytes ?? estimate.allocated_peak_bytes;
  const why = missing(estimate, trans);
  return (
    <div
      className={`jp-PaddleGpu-estimate${isOld ? ' jp-PaddleGpu-stale' : ''}`}
      aria-busy={training.isEstimating}
    >
      <Stop estimate={estimate} training={training} />
      {total !== null && (
        <Figure estimate={estimate} training={training} model={model} total={total} />
      )}
      {why && <Muted as="p">{why}</Muted>}
      <AskedFor training={training} />
      <Age training={training} />
      <Tracing training={training} quiet={!why} />
      <Timeline estimate={estimate} />
      <Breakdown estimate={estimate} />
      {estimate.notes
        .filter(note => note.code !== LISTED && note.code !== LATE && !isBasis(note))
        .map((note, index) => (
          <Note key={index} kind="info" message={note} />
        ))}
      {model && <BatchCurve training={training} model={model} />}
    </div>
  );
}

const SMALL = 'jp-PaddleGpu-muted jp-PaddleGpu-small jp-PaddleGpu-figures';

/** The number with its range, what it is on, and what it was without what is asked for. */
function Figure(props: {
  estimate: IEstimate;
  training: Training;
  model: PanelModel | null;
  total: number;
}): JSX.Element {
  const { trans } = useApp();
  const { estimate, training, model, total } = props;
  const { low, high, allocated_peak_bytes } = estimate;
  const onDevice = estimate.target === 'cpu' ? training.placement?.on_device : null;
  const most = estimate.trainings.find(
    ({ id }, _, { length }) => length > 1 && id === onDevice?.training
  );
  const before = training.own?.peak_bytes ?? training.own?.allocated_peak_bytes ?? null;
  const was =
    before !== null && training.own !== estimate && bytes(before) !== bytes(total)
      ? before
      : null;
  const range = low !== null && high !== null && high > low ? byteRange(low, high) : '';
  return (
    <div className="jp-PaddleGpu-answer">
      {was !== null && (
        <span className="jp-PaddleGpu-was" title={trans.__('As it stands in the notebook')}>
          {bytes(was)} <span aria-hidden="true">→</span>
        </span>
      )}
      <span className="jp-PaddleGpu-big">{bytes(total)}</span>
      <span className="jp-PaddleGpu-beside">
        {model ? (
          <Target model={model} training={training} />
        ) : (
          <Muted>{markedName(estimate.device ?? '', estimate.device_checked, trans)}</Muted>
        )}
        <span className="jp-PaddleGpu-row jp-PaddleGpu-wrap jp-PaddleGpu-basis">
          {onDevice && range && <span className={SMALL}>{range} ·</span>}
          <span className={SMALL}>
            {!onDevice && range && <>{range} </>}
            {onDevice && (
              <span title={byteRange(onDevice.low ?? 0, onDevice.high ?? 0)}>
                {trans.__('%1 on a GPU', bytes(onDevice.peak_bytes))}{' '}
              </span>
            )}
            <Info about={bytes(total)}>
              {together(explained(), ...estimate.notes.filter(isBasis).map(one => one.message))}
            </Info>
          </span>
          {most && <span className={SMALL}>{called(most, training, trans)}</span>}
          {estimate.live && <Chip>{trans.__('%1 in the kernel', training.models.chosen)}</Chip>}
          <span className="jp-PaddleGpu-faint">
            {training.isEstimating ? (
              <span
                className="jp-PaddleGpu-spinner"
                role="status"
                aria-label={trans.__('Tracing one training step…')}
              />
            ) : (
              evidence(estimate, trans)
            )}
          </span>
        </span>
      </span>
    </div>
  );

  /** What the figure counts, and why a job may measure another one. */
  function explained(): string {
    const size = bytes(allocated_peak_bytes);
    return estimate.target === 'cpu'
      ? trans.__(
          'The most that Paddle holds in a steady training step on the CPU. Python and libraries come on top of it. A GPU adds the device context and what its allocator rounds up.'
        )
      : trans.__(
          'The most that the driver shows for this training: Paddle’s tensors take %1, the rest is the device context and what the allocator rounds up. A job on the CPU has neither; its figure is that for the CPU.',
          size
        );
  }
}

/** Whether the number is of the notebook as it is. */
function Age({ training }: { training: Training }): JSX.Element | null {
  const { trans } = useApp();
  if (training.isEstimating || (!training.stale && !training.isRecalled)) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-row jp-PaddleGpu-age" data-code="stale" role="status">
      <span>
        {training.stale
          ? training.models.isOld
            ? trans.__('The kernel executed something since.')
            : trans.__('The notebook was edited since.')
          : trans.__('From before the reload.')}
      </span>
      <Button look="link" onClick={() => void training.measure()}>
        {trans.__('Estimate again')}
      </Button>
    </div>
  );
}
