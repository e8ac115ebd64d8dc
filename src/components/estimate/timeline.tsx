/** Bytes over one training step: its scale, its phases, the peak, and what is alive under pointer or arrow keys. */

import * as React from 'react';

import type { IEstimate, ITimelinePoint, Phase } from '../../domain';
import { bytes } from '../../format';
import { layerName } from '../../models/estimate/layers';
import { short } from '../../plots';
import { useApp, useWidth } from '../common/context';
import { chartHeight, roundSizes } from './scale';
import { kindNames } from './words';
import { Name, Space } from '../common/pieces';

/** Above the curve: room for half of the dot at its peak. */
const TOP = 4;
/** What the peak is called stands above the chart, in a line of this height and in more where it is long. */
const LINE = 10;
/** A text of the axis needs about this many pixels. */
const LABEL_ROOM = 52;
/** Kinds of memory that are named at a place. */
const NAMED = 4;

export function Timeline({ estimate }: { estimate: IEstimate }): JSX.Element | null {
  const { trans } = useApp();
  const [ref, width] = useWidth();
  const [chosen, setChosen] = React.useState<number | null>(null);
  const points = estimate.timeline;
  if (points.length < 2) {
    return null;
  }
  const names: Record<Phase, string> = {
    forward: trans.__('forward'),
    backward: trans.__('backward'),
    update: trans.__('update')
  };
  const last = points[points.length - 1].index || 1;
  const highest = Math.max(...points.map(point => point.bytes), 1);
  const height = chartHeight(width) - LINE;
  const x = (index: number) => (index / last) * width;
  const y = (size: number) => TOP + (1 - size / highest) * (height - TOP);
  const peak =
    estimate.peak_at ?? points.reduce((a, b) => (b.bytes > a.bytes ? b : a), points[0]);
  const kept = estimate.breakdown
    ? estimate.breakdown.parameters + estimate.breakdown.optimizer_state
    : 0;
  const what = [peak.op, layerName(estimate, peak.layer)].filter(Boolean).join(', ');
  const label = trans.__('peak: %1', what || names[peak.phase]);
  const onLeft = x(peak.index) > width / 2;
  const shown = chosen === null ? null : points[Math.min(chosen, points.length - 1)];
  const keys: Record<string, number> = {
    ArrowLeft: (chosen ?? points.length) - 1,
    ArrowRight: (chosen ?? -1) + 1,
    Home: 0,
    End: points.length - 1,
    PageUp: points.findIndex(({ index }) => index >= peak.index),
    PageDown: points.findIndex(({ index }) => index >= peak.index)
  };
  const choose = (index: number) => setChosen(Math.max(0, Math.min(points.length - 1, index)));
  const kinds: Partial<Record<string, string>> = kindNames(trans);
  const kindName = (kind: string) => kinds[kind] ?? kind;
  /** `lstm, rnn_grad · backward · 1.4 GiB, 130 MiB of it kept all the time`. */
  const alive = (point: ITimelinePoint) =>
    [
      [layerName(estimate, point.layer), point.op].filter(Boolean).join(', '),
      names[point.phase],
      kept > 0
        ? trans.__('%1, of it %2 kept all the time', bytes(point.bytes), bytes(kept))
        : bytes(point.bytes)
    ]
      .filter(Boolean)
      .join(' · ');
  /** The same with what stands there, for those who hear it. */
  const told = (point: ITimelinePoint) =>
    [
      alive(point),
      ...largest(point).map(([kind, size]) => `${kindName(kind)} ${bytes(size)}`),
      layersOf(point)
    ]
      .filter(Boolean)
      .join(' · ');
  return (
    <div className="jp-PaddleGpu-timeline" ref={ref}>
      <div className={`jp-PaddleGpu-peakText${onLeft ? ' jp-mod-left' : ''}`}>
        <i style={{ flexBasis: onLeft ? width - x(peak.index) : x(peak.index) }} />
        <span>
          <Name text={label} />
        </span>
      </div>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={trans.__(
            'Memory over one step: highest in the %1 phase with %2, at %3.',
            names[peak.phase],
            bytes(peak.bytes),
            what
          )}
        >
          <path className="jp-PaddleGpu-curve" d={area(points, x, y, height)} />
          {kept > 0 && (
            <rect
              className="jp-PaddleGpu-kept"
              x={0}
              y={y(kept)}
              width={width}
              height={height - y(kept)}
            >
              <title>{trans.__('Parameters and optimizer state, kept all the time')}</title>
            </rect>
          )}
          {roundSizes(highest).map(size => (
            <g key={size}>
              <line className="jp-PaddleGpu-grid" x1={0} x2={width} y1={y(size)} y2={y(size)} />
              <text className="jp-PaddleGpu-scale" x={width - 2} y={y(size) - 2}>
                {short(bytes(size))}
              </text>
            </g>
          ))}
          {shown && (
            <line
              className="jp-PaddleGpu-cursor"
              x1={x(shown.index)}
              x2={x(shown.index)}
              y1={TOP}
              y2={height}
            />
          )}
          <line
            className="jp-PaddleGpu-peak"
            x1={x(peak.index)}
            x2={x(peak.index)}
            y1={y(peak.bytes)}
            y2={height}
          />
          <circle
            className="jp-PaddleGpu-peakDot"
            cx={x(peak.index)}
            cy={y(peak.bytes)}
            r={3}
          />
        </svg>
      )}
      <div
        className="jp-PaddleGpu-reader"
        style={{ height }}
        role="slider"
        tabIndex={0}
        aria-readonly="true"
        aria-label={trans.__('Memory over one step')}
        aria-valuemin={0}
        aria-valuemax={points.length - 1}
        aria-valuenow={chosen ?? 0}
        aria-valuetext={shown ? told(shown) : label}
        onKeyDown={event => {
          if (event.key in keys) {
            event.preventDefault();
            choose(keys[event.key]);
          } else if (event.key === 'Escape') {
            setChosen(null);
          }
        }}
        onBlur={() => setChosen(null)}
        onPointerLeave={() => setChosen(null)}
        onPointerMove={event => {
          const box = event.currentTarget.getBoundingClientRect();
          const place = ((event.clientX - box.left) / (box.width || 1)) * last;
          const next = points.findIndex(({ index }) => index >= place);
          choose(next < 0 ? points.length - 1 : next);
        }}
      />
      {shown && (
        <div className="jp-PaddleGpu-alive" aria-hidden="true">
          {alive(shown)}
          {largest(shown).map(([kind, size]) => (
            <div key={kind} className="jp-PaddleGpu-row">
              <i className={`jp-PaddleGpu-fill jp-mod-${kind}`} />
              <span className="jp-PaddleGpu-name">
                {kindName(kind)}
                {kind === 'activations' && layersOf(shown)}
              </span>
              <Space />
              {bytes(size)}
            </div>
          ))}
        </div>
      )}
      <div className="jp-PaddleGpu-phases" aria-hidden="true">
        {phases(points).map(([phase, from, to]) => (
          <span
            key={from}
            style={{ left: x(from), width: x(to) - x(from) }}
            className={x(to) - x(from) < LABEL_ROOM ? 'jp-mod-tight' : ''}
            title={names[phase]}
          >
            {names[phase]}
          </span>
        ))}
      </div>
    </div>
  );
}

/** The path of a filled curve; sizes hold from one operation to the next. */
function area(
  points: ITimelinePoint[],
  x: (index: number) => number,
  y: (size: number) => number,
  height: number
): string {
  const line = points.map(
    point => `L${x(point.index).toFixed(1)} ${y(point.bytes).toFixed(1)}`
  );
  const end = x(points[points.length - 1].index).toFixed(1);
  return `M0 ${height} ${line.join('')} L${end} ${height}Z`;
}

/** The kinds that take most at a place, the largest first. */
function largest(point: ITimelinePoint): [string, number][] {
  return Object.entries(point.kinds)
    .sort(([, a], [, b]) => b - a)
    .slice(0, NAMED);
}

/** ` · encoder.0 1.2 GiB, encoder.1 1.1 GiB`: the layers whose activations take most at a place. */
function layersOf(point: ITimelinePoint): string {
  const named = Object.entries(point.layers).map(([layer, size]) =>
    `${layer} ${bytes(size)}`.trim()
  );
  return named.length ? ` · ${named.join(', ')}` : '';
}

/** Where each phase begins and ends. */
function phases(points: ITimelinePoint[]): [Phase, number, number][] {
  const found: [Phase, number, number][] = [];
  for (const point of points) {
    const current = found[found.length - 1];
    if (current?.[0] === point.phase) {
      current[2] = point.index;
    } else {
      if (current) {
        current[2] = point.index;
      }
      found.push([point.phase, current ? point.index : 0, point.index]);
    }
  }
  return found;
}
