/** Curves of what a training prints: loss, accuracy and their kin, one small picture each. */

import * as React from 'react';

import { metric } from '../format';
import type { JobView } from '../models/jobView';
import type { IPoint } from '../models/metrics';
import { Busy } from './common';
import { useApp, useSignal } from './context';

const WIDTH = 320;
const HEIGHT = 132;
const LEFT = 8;
const TOP = 10;
const BOTTOM = 10;

export function JobMetrics({ model }: { model: JobView }): JSX.Element {
  const { trans } = useApp();
  useSignal(model.changed);
  useSignal(model.log.changed);
  React.useEffect(() => {
    void model.readCurves();
  }, [model]);
  const curves = [...model.metrics.curves].filter(([, points]) => points.length > 1);
  if (!curves.length) {
    return model.isScanning ? (
      <Busy>{trans.__('Reading the log…')}</Busy>
    ) : (
      <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted">
        {trans.__(
          'No curves yet. Values that the training prints, such as “loss: 0.41”, are drawn here.'
        )}
      </p>
    );
  }
  return (
    <div className="jp-PaddleGpu-curves">
      {curves.map(([name, points]) => (
        <Curve key={name} name={name} points={points} />
      ))}
    </div>
  );
}

function Curve({ name, points }: { name: string; points: IPoint[] }): JSX.Element {
  const { trans } = useApp();
  const values = points.map(point => point.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const last = values[values.length - 1];
  const x = (index: number) => LEFT + (index / (points.length - 1)) * (WIDTH - LEFT - 8);
  const y = (value: number) =>
    TOP + (1 - (value - low) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const path = values
    .map((value, index) => `${index ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('');
  return (
    <figure className="jp-PaddleGpu-figure">
      <figcaption className="jp-PaddleGpu-row">
        <h3>{name}</h3>
        <span className="jp-PaddleGpu-space" />
        <b>{metric(last)}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={trans.__(
          '%1: last %2, lowest %3, highest %4',
          name,
          metric(last),
          metric(low),
          metric(high)
        )}
      >
        <line
          className="jp-PaddleGpu-axis"
          x1={LEFT}
          x2={WIDTH}
          y1={HEIGHT - 4}
          y2={HEIGHT - 4}
        />
        <line className="jp-PaddleGpu-axis" x1={LEFT} x2={LEFT} y1={4} y2={HEIGHT - 4} />
        <path className="jp-PaddleGpu-line" d={path} />
        <circle className="jp-PaddleGpu-dot" cx={x(points.length - 1)} cy={y(last)} r={3} />
      </svg>
      <div className="jp-PaddleGpu-row jp-PaddleGpu-small jp-PaddleGpu-muted">
        <span>{trans.__('lowest %1', metric(low))}</span>
        <span className="jp-PaddleGpu-space" />
        <span>{trans.__('highest %1', metric(high))}</span>
      </div>
    </figure>
  );
}
