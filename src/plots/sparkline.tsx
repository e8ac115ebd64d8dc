/** A curve as small as a word: the course of something, beside its last value in figures. */

import * as React from 'react';

import { extent } from './series';

export function Sparkline(props: {
  values: readonly (number | null)[];
  /** What is said of it to those who do not see it. */
  label: string;
  /** Extent of the values; by default their own. */
  low?: number;
  high?: number;
  width?: number;
  height?: number;
}): JSX.Element | null {
  const { values, width = 72, height = 16 } = props;
  const known = extent(values);
  if (!known) {
    return null;
  }
  const low = props.low ?? known[0];
  const high = Math.max(props.high ?? known[1], low);
  const across = width / Math.max(1, values.length - 1);
  let pen = 'M';
  let path = '';
  values.forEach((value, index) => {
    if (value === null) {
      pen = 'M';
      return;
    }
    const up = high > low ? (value - low) / (high - low) : 0.5;
    path += `${pen}${(index * across).toFixed(1)} ${(height - 1 - up * (height - 2)).toFixed(1)}`;
    pen = 'L';
  });
  return (
    <svg
      className="jp-PaddleGpu-sparkline"
      role="img"
      aria-label={props.label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
    >
      <path d={path} />
    </svg>
  );
}
