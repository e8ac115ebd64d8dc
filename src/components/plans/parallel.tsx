/** A line for each trial through its values to what came out: parallel coordinates, as a picture beside the table. */

import * as React from 'react';

import type { ISweep, ITrial } from '../../domain';
import { metric } from '../../format';
import { axes, goodness, type IAxis } from '../../models/plans/axes';
import { useApp, useWidth } from '../common/context';
import { dimensionName } from './words';

const HEIGHT = 210;
const TOP = 26;
/** More above the axes where names stand in two lines: the lower one does not touch the first value. */
const SECOND_LINE = 12;
const BOTTOM = 14;
/** Beside the first and the last axis, at least: their values are written there. */
const SIDE = 46;
/** Pixels of a letter of those, at most. */
const LETTER = 7;
/** Pixels from one axis to the next: so many at least where the table is to stand beside them, and at most. */
const NEAR = 130;
const FAR = 420;

export function Parallel(props: {
  sweep: ISweep;
  /** The trial that is pointed at, in the table or here. */
  marked: number | null;
  mark: (trial: number | null) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { sweep, marked, mark } = props;
  const [box, measured] = useWidth();
  const width = Math.max(240, measured);
  const across = axes(sweep, one => dimensionName(one, sweep, trans));
  const good = goodness(sweep);
  const outer = [across[0], across[across.length - 1]].flatMap(({ ticks }) => ticks);
  const side = Math.max(SIDE, ...outer.map(({ text }) => 8 + LETTER * text.length));
  const x = (index: number) =>
    across.length > 1 ? side + (index * (width - 2 * side)) / (across.length - 1) : width / 2;
  // Names that would lie over each other stand in two lines.
  const widest = Math.max(...across.map(({ name }) => LETTER * name.length));
  const crowded = across.length > 1 && x(1) - x(0) < widest;
  const top = TOP + (crowded ? SECOND_LINE : 0);
  const y = (at: number) => top + (1 - at) * (HEIGHT - top - BOTTOM);
  const best = sweep.trials.find(({ number }) => number === sweep.best);
  // The best and the one that is pointed at lie above the others.
  const order = [...sweep.trials].sort(
    (a, b) => rank(a, sweep.best, marked) - rank(b, sweep.best, marked)
  );
  return (
    <div
      ref={box}
      className="jp-PaddleGpu-parallel"
      style={{
        flexBasis: 2 * side + NEAR * (across.length - 1),
        maxWidth: 2 * side + FAR * (across.length - 1)
      }}
    >
      <svg
        role="img"
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        aria-label={
          best
            ? trans._n(
                '%1 trial as a line over %2; the best is trial %3 with %4',
                '%1 trials as lines over %2; the best is trial %3 with %4',
                sweep.trials.length,
                across.map(({ name }) => name).join(', '),
                best.number,
                metric(best.value)
              )
            : trans._n(
                '%1 trial as a line over %2',
                '%1 trials as lines over %2',
                sweep.trials.length,
                across.map(({ name }) => name).join(', ')
              )
        }
        onMouseLeave={() => mark(null)}
      >
        {order.map(trial => (
          <path
            key={trial.number}
            d={line(trial, across, x, y)}
            className={looks(trial, sweep.best, marked)}
            style={{ opacity: opacity(good(trial), trial, sweep.best, marked) }}
            onMouseEnter={() => mark(trial.number)}
          />
        ))}
        {across.map((axis, index) => (
          <g key={axis.name} className="jp-PaddleGpu-axis">
            <line x1={x(index)} x2={x(index)} y1={top} y2={HEIGHT - BOTTOM} />
            <text
              x={x(index)}
              y={crowded && index % 2 ? 22 : 10}
              textAnchor={anchor(index, across.length)}
              className="jp-mod-name"
            >
              {axis.name}
            </text>
            {axis.ticks.map(tick => (
              <text
                key={tick.text}
                x={x(index) + (index === across.length - 1 ? 5 : -5)}
                y={y(tick.at) + 4}
                textAnchor={index === across.length - 1 ? 'start' : 'end'}
              >
                {tick.text}
              </text>
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}

function line(
  trial: ITrial,
  across: readonly IAxis[],
  x: (index: number) => number,
  y: (at: number) => number
): string {
  const points = across.flatMap((axis, index) => {
    const at = axis.at(trial);
    return at === null ? [] : [`${x(index).toFixed(1)} ${y(at).toFixed(1)}`];
  });
  return points.length ? `M${points.join('L')}` : '';
}

function rank(trial: ITrial, best: number | null, marked: number | null): number {
  return Number(trial.number === best) + 2 * Number(trial.number === marked);
}

function looks(trial: ITrial, best: number | null, marked: number | null): string {
  return [
    `jp-mod-${trial.state}`,
    trial.number === best ? 'jp-mod-best' : '',
    trial.number === marked ? 'jp-mod-marked' : ''
  ]
    .filter(Boolean)
    .join(' ');
}

/** The better, the plainer to be seen. */
function opacity(
  good: number | null,
  trial: ITrial,
  best: number | null,
  marked: number | null
): number {
  if (trial.number === best || trial.number === marked) {
    return 1;
  }
  return good === null ? 0.35 : 0.25 + 0.6 * good;
}

function anchor(index: number, count: number): 'start' | 'middle' | 'end' {
  return index === 0 && count > 1
    ? 'start'
    : index === count - 1 && count > 1
      ? 'end'
      : 'middle';
}
