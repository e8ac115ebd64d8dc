/** One quantity as a small, calm line: its last value, its extent, and every value under pointer or arrow keys. */

import * as React from 'react';

import { useApp } from './context';

const WIDTH = 320;
const HEIGHT = 132;
const LEFT = 8;
const TOP = 10;
const BOTTOM = 4;

/** A value at a place along the axis; null breaks the line. */
export interface IChartPoint {
  x: number;
  value: number | null;
}

export interface IChartProps {
  name: string;
  points: readonly IChartPoint[];
  /** What is said of the whole curve to those who do not see it. */
  label: string;
  /** Extent of the vertical axis; by default that of the values. */
  low?: number;
  high?: number;
  /** Value to words, with its unit. */
  format: (value: number) => string;
  /** Place on the axis to words. */
  at: (x: number) => string;
  /** A value to compare with. */
  mark?: { value: number; label: string };
  /** Words below the curve. */
  left: string;
  right: string;
}

export function Chart(props: IChartProps): JSX.Element | null {
  const { points, mark, format } = props;
  const known = points.filter((point): point is { x: number; value: number } => {
    return point.value !== null;
  });
  const [chosen, setChosen] = React.useState<number | null>(null);
  if (!known.length) {
    return null;
  }
  const values = known.map(point => point.value);
  if (mark) {
    values.push(mark.value);
  }
  const low = props.low ?? least(values);
  const high = Math.max(props.high ?? -Infinity, most(values));
  const [first, last] = [known[0], known[known.length - 1]];
  const x = (place: number) =>
    LEFT + ((place - first.x) / (last.x - first.x || 1)) * (WIDTH - LEFT - 8);
  const y = (value: number) =>
    TOP + (1 - (value - low) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM - 6);
  const shown = chosen === null ? last : known[Math.min(chosen, known.length - 1)];
  return (
    <figure className="jp-PaddleGpu-figure">
      <figcaption className="jp-PaddleGpu-row">
        <span className="jp-PaddleGpu-figureName">{props.name}</span>
        <span className="jp-PaddleGpu-space" />
        {chosen !== null && (
          <span className="jp-PaddleGpu-muted jp-PaddleGpu-small">{props.at(shown.x)}</span>
        )}
        <b>{format(shown.value)}</b>
      </figcaption>
      <div className="jp-PaddleGpu-plot">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={props.label}>
          <line
            className="jp-PaddleGpu-axis"
            x1={LEFT}
            x2={WIDTH}
            y1={HEIGHT - BOTTOM}
            y2={HEIGHT - BOTTOM}
          />
          <line className="jp-PaddleGpu-axis" x1={LEFT} x2={LEFT} y1={4} y2={HEIGHT - BOTTOM} />
          {mark && (
            <>
              <line
                className="jp-PaddleGpu-mark"
                x1={LEFT}
                x2={WIDTH}
                y1={y(mark.value)}
                y2={y(mark.value)}
              />
              <text
                className="jp-PaddleGpu-markText"
                x={LEFT + 4}
                y={y(mark.value) + (y(mark.value) < TOP + 12 ? 12 : -4)}
              >
                {mark.label}
              </text>
            </>
          )}
          <path className="jp-PaddleGpu-line" d={path(points, x, y)} />
          <circle className="jp-PaddleGpu-dot" cx={x(shown.x)} cy={y(shown.value)} r={3} />
        </svg>
        <Reader {...props} known={known} chosen={chosen} choose={setChosen} />
      </div>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-small jp-PaddleGpu-muted">
        <span>{props.left}</span>
        <span className="jp-PaddleGpu-space" />
        <span>{props.right}</span>
      </div>
    </figure>
  );
}

/** Lies over the curve and lets pointer and arrow keys choose the value that is read out. */
function Reader(
  props: IChartProps & {
    known: readonly { x: number; value: number }[];
    chosen: number | null;
    choose: (index: number | null) => void;
  }
): JSX.Element {
  const { trans } = useApp();
  const { known, chosen, choose } = props;
  const end = known.length - 1;
  const index = Math.min(chosen ?? end, end);
  const shown = known[index];
  const page = Math.max(1, Math.round(known.length / 10));
  const steps: Record<string, number> = {
    ArrowLeft: index - 1,
    ArrowRight: index + 1,
    PageDown: index - page,
    PageUp: index + page,
    Home: 0,
    End: end
  };
  return (
    <div
      className="jp-PaddleGpu-reader"
      role="slider"
      tabIndex={0}
      aria-readonly="true"
      aria-label={trans.__('Values of %1', props.name)}
      aria-valuemin={0}
      aria-valuemax={end}
      aria-valuenow={index}
      aria-valuetext={`${props.format(shown.value)}, ${props.at(shown.x)}`}
      onKeyDown={event => {
        if (event.key in steps) {
          event.preventDefault();
          choose(Math.max(0, Math.min(end, steps[event.key])));
        } else if (event.key === 'Escape') {
          choose(null);
        }
      }}
      onBlur={() => choose(null)}
      onPointerLeave={() => choose(null)}
      onPointerMove={event => {
        const box = event.currentTarget.getBoundingClientRect();
        const part = ((event.clientX - box.left) / box.width) * WIDTH - LEFT;
        const place = known[0].x + (part / (WIDTH - LEFT - 8)) * (known[end].x - known[0].x);
        choose(nearest(known, place));
      }}
    />
  );
}

/** Index of the point that is nearest to a place on the axis. */
function nearest(points: readonly { x: number }[], place: number): number {
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].x > place) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return place - points[low].x < points[high].x - place ? low : high;
}

/** The line, broken where a value is missing. */
function path(
  points: readonly IChartPoint[],
  x: (place: number) => number,
  y: (value: number) => number
): string {
  let pen = 'M';
  let drawn = '';
  for (const point of points) {
    if (point.value === null) {
      pen = 'M';
    } else {
      drawn += `${pen}${x(point.x).toFixed(1)} ${y(point.value).toFixed(1)}`;
      pen = 'L';
    }
  }
  return drawn;
}

export function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b));
}

export function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b));
}
