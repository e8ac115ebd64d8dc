/** Memory over batch size, with each card's limit drawn in and a handle to ask for another batch. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Debouncer } from '@lumino/polling';
import * as React from 'react';

import type { IAccelerator, IInventory } from '../../domain';
import { bytes, group, together } from '../../format';
import { short } from '../../plots';
import {
  at,
  axis,
  type IBatchPoint,
  type ICardLimit,
  reaches,
  USABLE
} from '../../models/estimate/batches';
import { ownBatch } from '../../models/estimate/own';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp, useWidth } from '../common/context';
import { Info } from '../common/info';
import { Button, Muted, Row, Space } from '../common/pieces';
import { markedName, shortName } from '../devices/words';
import { chartHeight, roundSizes } from './scale';

const TOP = 12;
/** Pixels between the names of a card and of a size at least. */
const LINE = 13;
/** Milliseconds for which the handle rests before the step is traced at its place. */
const ASK_DELAY = 350;
/** Cards that are drawn in; more would hide the curve. */
const MOST_CARDS = 2;
/** Share of the axis that lies between two of them at least, so that their names do. */
const LEAST_GAP = 0.25;

type IMemory = Pick<IAccelerator, 'name' | 'memory_bytes' | 'checked'>;

export function BatchCurve(props: {
  training: Training;
  model: PanelModel;
}): JSX.Element | null {
  const { trans } = useApp();
  const { training, model } = props;
  const { estimate, request } = training;
  const { points } = training.batches;
  const [ref, width] = useWidth();
  const [held, setHeld] = React.useState<number | null>(null);
  const asker = React.useRef<Debouncer<void, void, [number | null]> | null>(null);
  React.useEffect(() => {
    const made = new Debouncer<void, void, [number | null]>(async batch => {
      setHeld(null);
      await training.ask({ batch_size: batch });
    }, ASK_DELAY);
    asker.current = made;
    return () => made.dispose();
  }, [training]);
  const asked = estimate?.batch_size ?? null;
  const own = ownBatch(training.own, training.facts, estimate) ?? asked;
  const canAsk = training.whatIfs.some(({ name }) => name === 'batch_size');
  if (!estimate || asked === null || own === null || points.length < 2 || !canAsk) {
    return null;
  }
  // On the CPU it is this machine's curve: of what a card holds it says nothing.
  const onCpu = estimate.target === 'cpu';
  const limits = onCpu ? [] : cardsHere(training, model, points, trans);
  const { end, step } = axis(own, limits);
  const here = held ?? asked;
  const value = at(points, here);
  const last = at(points, end);
  if (!value || !last) {
    return null;
  }
  const inside = limits.filter(({ batch }) => batch <= end).slice(0, MOST_CARDS);
  const most = Math.max(last.high, ...inside.map(({ bytes }) => bytes * 1.05));
  const shown = knownCards(
    onCpu ? machine(model.inventory, trans) : model.accelerators,
    points,
    inside,
    { end, most }
  );
  const x = (batch: number) => (batch / end) * width;
  const height = chartHeight(width);
  const y = (size: number) => TOP + (1 - size / most) * (height - TOP);
  // From the first batch to the last of the axis, or back.
  const batches = [1, ...points.map(({ batch }) => batch).filter(b => b > 1 && b < end), end];
  const drawn = (size: (point: IBatchPoint) => number, back = false) =>
    (back ? [...batches].reverse() : batches)
      .map(batch => `${x(batch).toFixed(1)} ${y(size(at(points, batch) ?? last)).toFixed(1)}`)
      .join('L');
  const sizes = roundSizes(most).filter(size =>
    shown.every(card => Math.abs(y(card.bytes) - y(size)) > LINE)
  );
  // Its name stands at the end that is further from the curve.
  const isFarFirst = (size: number) => {
    const far = (bytes: number) => Math.abs(y(bytes) - y(size));
    return far(at(points, 1)?.bytes ?? 0) >= far(last.bytes);
  };
  const move = (batch: number) => {
    const next = Math.max(1, Math.min(end, Math.round(batch)));
    setHeld(next);
    // Of a batch in parts the curve is of one of them.
    const whole = next === own ? null : next * (request.accumulation ?? 1);
    void asker.current?.invoke(whole).catch(() => undefined);
  };
  const toPointer = (event: React.PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const batch = ((event.clientX - box.left) / box.width) * end;
    move(Math.round(batch / step) * step || 1);
  };
  const keys: Record<string, number> = {
    ArrowLeft: here - step,
    ArrowDown: here - step,
    ArrowRight: here === 1 ? step : here + step,
    ArrowUp: here === 1 ? step : here + step,
    PageDown: Math.floor(here / 2),
    PageUp: here * 2,
    Home: 1,
    End: end,
    Escape: own
  };
  const isGuess = !points.some(({ batch }) => batch === here) || held !== null;
  const beyond = limits.find(({ batch }) => batch > end);
  return (
    <div className="jp-PaddleGpu-batch">
      <Row>
        <h2>{trans.__('Batch size')}</h2>
        <Info about={trans.__('Batch size')}>
          {together(
            trans.__(
              'The step is traced at the sizes that were asked for; between them, straight lines are drawn with their range. A dashed line is what a card can give. Drag the handle, or use the arrow keys: number and job follow.'
            ),
            beyond && trans.__('%1 holds batch %2', beyond.name, group(beyond.batch))
          )}
        </Info>
        <Space />
        {here !== own && (
          <Button look="link" onClick={() => move(own)}>
            {trans.__('back to %1', group(own))}
          </Button>
        )}
        <b>{group(here)}</b>
        {here !== own && (
          <Muted>
            {isGuess && '≈ '}
            {bytes(value.bytes)}
          </Muted>
        )}
      </Row>
      <div ref={ref} className="jp-PaddleGpu-batchPlot">
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {sizes.map(size => (
              <line
                key={size}
                className="jp-PaddleGpu-grid"
                x1={0}
                x2={width}
                y1={y(size)}
                y2={y(size)}
              />
            ))}
            <path
              className="jp-PaddleGpu-under"
              d={`M${x(1)} ${height}L${drawn(({ bytes }) => bytes)}V${height}Z`}
            />
            <path
              className="jp-PaddleGpu-range"
              d={`M${drawn(({ high }) => high)}L${drawn(({ low }) => low, true)}Z`}
            />
            <path className="jp-PaddleGpu-line" d={`M${drawn(({ bytes }) => bytes)}`} />
            {sizes.map(size => (
              <text
                key={size}
                className={`jp-PaddleGpu-scale${isFarFirst(size) ? ' jp-mod-first' : ''}`}
                x={isFarFirst(size) ? 2 : width - 2}
                y={y(size) - 2}
              >
                {short(bytes(size))}
              </text>
            ))}
            {shown.map(card => (
              <g key={card.name}>
                <line
                  className="jp-PaddleGpu-mark"
                  x1={0}
                  x2={width}
                  y1={y(card.bytes)}
                  y2={y(card.bytes)}
                />
                <text
                  className="jp-PaddleGpu-markText"
                  // On the side where the curve is not.
                  x={x(card.batch) < width / 2 ? width - 2 : 2}
                  y={y(card.bytes) - 3}
                  textAnchor={x(card.batch) < width / 2 ? 'end' : 'start'}
                >
                  {`${card.name} → ${card.isExact ? '' : '≈ '}${group(card.batch)}`}
                </text>
              </g>
            ))}
            <circle className="jp-PaddleGpu-handle" cx={x(here)} cy={y(value.bytes)} r={6} />
          </svg>
        )}
        <div
          className="jp-PaddleGpu-reader"
          role="slider"
          tabIndex={0}
          aria-label={trans.__('Batch size')}
          aria-valuemin={1}
          aria-valuemax={end}
          aria-valuenow={here}
          aria-valuetext={trans.__('batch %1: %2', here, bytes(value.bytes))}
          onKeyDown={event => {
            if (event.key in keys && (event.key !== 'Escape' || here !== own)) {
              event.preventDefault();
              event.stopPropagation();
              move(keys[event.key]);
            }
          }}
          onPointerDown={event => {
            event.currentTarget.setPointerCapture(event.pointerId);
            toPointer(event);
          }}
          onPointerMove={event => {
            if (event.buttons & 1) {
              toPointer(event);
            }
          }}
        />
      </div>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-axisText" aria-hidden="true">
        {[0, 0.5, 1].map(part => (
          <span key={part}>{group(part * end)}</span>
        ))}
      </div>
      <Told training={training} isAsked={!!request.batch_size} trans={trans} />
    </div>
  );
}

/** What screen readers are told once the handle has come to rest. */
function Told(props: {
  training: Training;
  isAsked: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { training, isAsked, trans } = props;
  const { estimate, isEstimating } = training;
  return (
    <span className="jp-PaddleGpu-unseen" role="status">
      {isAsked && !isEstimating && estimate
        ? trans.__('batch %1: %2', String(estimate.batch_size), bytes(estimate.peak_bytes))
        : ''}
    </span>
  );
}

/** The cards that are here, each once, with the largest batch that they hold; the smallest first. */
function cardsHere(
  training: Training,
  model: PanelModel,
  points: readonly IBatchPoint[],
  trans: TranslationBundle
): ICardLimit[] {
  const inventory = model.devicesOf(model.engineOf(training));
  const found = (inventory?.devices ?? []).flatMap(device => {
    const verdict = training.placement?.verdicts.find(one => one.device_id === device.id);
    const name = markedName(shortName(device), device.checked, trans);
    return device.memory_total === null
      ? []
      : limit(
          name,
          device.memory_total - (device.details?.memory_reserved ?? 0),
          points,
          verdict?.largest_batch ?? null
        );
  });
  return once(found);
}

/** Known cards whose limit lies on the axis, far enough from those that are drawn already; of those that were checked
 * on hardware only, as it stands beside the curve as a promise. */
export function knownCards(
  accelerators: readonly IMemory[],
  points: readonly IBatchPoint[],
  drawn: readonly ICardLimit[],
  { end, most }: { end: number; most: number }
): ICardLimit[] {
  const shown = [...drawn];
  const known = accelerators.flatMap(({ name, memory_bytes, checked }) =>
    checked ? limit(name, memory_bytes, points, null) : []
  );
  for (const card of once(known)) {
    const isClear = shown.every(({ bytes }) => Math.abs(bytes - card.bytes) > LEAST_GAP * most);
    if (shown.length < MOST_CARDS && card.batch <= end && card.bytes < most && isClear) {
      shown.push(card);
    }
  }
  return shown;
}

/** What a curve of the CPU ends at. */
export function machine(inventory: IInventory | null, trans: TranslationBundle): IMemory[] {
  return inventory
    ? [
        {
          name: trans.__('This machine'),
          memory_bytes: inventory.host.memory_total,
          checked: true
        }
      ]
    : [];
}

function limit(
  name: string,
  memory: number,
  points: readonly IBatchPoint[],
  largest: number | null
): ICardLimit[] {
  const usable = USABLE * memory;
  const batch = largest ?? reaches(points, usable);
  const isExact = largest !== null;
  return batch !== null && batch > 0 ? [{ name, bytes: usable, batch, isExact }] : [];
}

/** Each size of memory once; the smallest first. */
function once(cards: readonly ICardLimit[]): ICardLimit[] {
  const sizes = new Map(cards.map(card => [card.bytes, card]));
  return [...sizes.values()].sort((a, b) => a.bytes - b.bytes);
}
