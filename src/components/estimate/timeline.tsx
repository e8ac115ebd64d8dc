/** Bytes over one training step, with its phases and the peak. */

import * as React from 'react';

import type { IEstimate, ITimelinePoint, Phase } from '../../domain';
import { bytes } from '../../format';
import { useApp, useWidth } from '../common/context';

const HEIGHT = 64;
const TOP = 14;
/** A text of the axis needs about this many pixels. */
const LABEL_ROOM = 52;

export function Timeline({ estimate }: { estimate: IEstimate }): JSX.Element | null {
  const { trans } = useApp();
  const [ref, width] = useWidth();
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
  const x = (index: number) => (index / last) * width;
  const y = (size: number) => TOP + (1 - size / highest) * (HEIGHT - TOP);
  const peak =
    estimate.peak_at ?? points.reduce((a, b) => (b.bytes > a.bytes ? b : a), points[0]);
  const kept = estimate.breakdown
    ? estimate.breakdown.parameters + estimate.breakdown.optimizer_state
    : 0;
  const what = [peak.op, peak.layer].filter(Boolean).join(', ');
  const label = trans.__('peak: %1', what || names[peak.phase]);
  const onLeft = x(peak.index) > width / 2;
  return (
    <div className="jp-PaddleGpu-timeline" ref={ref}>
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={trans.__(
            'Memory over one step: highest in the %1 phase with %2, at %3.',
            names[peak.phase],
            bytes(peak.bytes),
            what
          )}
        >
          <path className="jp-PaddleGpu-curve" d={area(points, x, y)} />
          {kept > 0 && (
            <rect
              className="jp-PaddleGpu-kept"
              x={0}
              y={y(kept)}
              width={width}
              height={HEIGHT - y(kept)}
            >
              <title>{trans.__('Parameters and optimizer state, kept all the time')}</title>
            </rect>
          )}
          <line
            className="jp-PaddleGpu-peak"
            x1={x(peak.index)}
            x2={x(peak.index)}
            y1={y(peak.bytes)}
            y2={HEIGHT}
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
        className={`jp-PaddleGpu-peakText${onLeft ? ' jp-mod-left' : ''}`}
        style={
          onLeft
            ? { right: width - x(peak.index) + 7, maxWidth: x(peak.index) - 7 }
            : { left: x(peak.index) + 7, maxWidth: width - x(peak.index) - 7 }
        }
        title={label}
      >
        {label}
      </div>
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
  y: (size: number) => number
): string {
  const line = points.map(
    point => `L${x(point.index).toFixed(1)} ${y(point.bytes).toFixed(1)}`
  );
  const end = x(points[points.length - 1].index).toFixed(1);
  return `M0 ${HEIGHT} ${line.join('')} L${end} ${HEIGHT}Z`;
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
