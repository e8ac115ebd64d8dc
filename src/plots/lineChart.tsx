/**
 * Curves over one axis, on a canvas: dashed ones of other runs, limits, epoch marks, one crosshair through all charts of
 * a page. Pointer or arrow keys choose a place, whose values are read out; a table stands for it where nobody sees it.
 */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useApp } from '../components/common/context';
import type { IDrawing, Plot } from './draw';
import { type ILimit, type IMark, type ISeries, spread } from './series';
import { onTheme } from './theme';

export interface ILineChartProps {
  /** What is said of the whole chart to those who do not see it. */
  label: string;
  series: readonly ISeries[];
  limits?: readonly ILimit[];
  marks?: readonly IMark[];
  /** Pixels; the width is that of the place it stands in. */
  height?: number;
  /** Charts with the same key share the crosshair. */
  sync?: string;
  /** Extent of the vertical axis; by default that of values and limits. */
  low?: number;
  high?: number;
  /** Where the horizontal axis ends that begins at 0; by default it is that of the places. */
  end?: number;
  /** Distances between ticks that may be taken; by default round numbers of ten. */
  stepsX?: readonly number[];
  stepsY?: readonly number[];
  /** Place on the axis to words, short enough for a tick. */
  formatX?: (x: number, trans: TranslationBundle) => string;
  /** Value to words, with its unit, short enough for a tick. */
  formatY?: (y: number) => string;
  /** The place that is chosen, by pointer, keys or another chart; null when none is. */
  onCursor?: (x: number | null) => void;
}

const NONE: readonly never[] = [];

export function LineChart(props: ILineChartProps): JSX.Element {
  const { trans } = useApp();
  const { series, limits = NONE, marks = NONE, height = 160, sync, low, high } = props;
  const { stepsX, stepsY, end } = props;
  const { formatX: words = plain, formatY = plain, onCursor } = props;
  const formatX = (x: number) => words(x, trans);
  const [place, setPlace] = React.useState<number | null>(null);
  const [failed, setFailed] = React.useState(false);
  const node = React.useRef<HTMLDivElement>(null);
  const plot = React.useRef<Plot | null>(null);
  const early = React.useRef<number | null>(null); // what keys chose before there was a plot
  const drawing: IDrawing = {
    ...{
      series,
      limits,
      marks,
      height,
      sync,
      low,
      high,
      end,
      stepsX,
      stepsY,
      formatX,
      formatY
    },
    onCursor: x => {
      setPlace(x);
      onCursor?.(x);
    }
  };
  const latest = React.useRef(drawing);
  latest.current = drawing;

  React.useEffect(() => {
    let gone = false;
    const stops: (() => void)[] = [];
    import('./draw').then(
      ({ Plot }) => {
        const place = node.current;
        if (gone || !place) {
          return;
        }
        const made = (plot.current = new Plot(place, latest.current));
        if (early.current !== null) {
          made.point(early.current);
        }
        const observer = new ResizeObserver(() => made.resize(place.clientWidth));
        observer.observe(place);
        stops.push(
          () => observer.disconnect(),
          onTheme(() => made.redraw()),
          () => made.dispose()
        );
      },
      () => setFailed(true)
    );
    return () => {
      gone = true;
      plot.current = null;
      stops.forEach(stop => stop());
    };
  }, []);

  React.useEffect(() => {
    plot.current?.update(latest.current);
  }, [series, limits, marks, height, sync, low, high, end]);

  const choose = (x: number | null) => {
    if (plot.current) {
      plot.current.point(x);
    } else {
      early.current = x;
      drawing.onCursor(x);
    }
  };
  const step = (event: React.KeyboardEvent) => {
    const places = plot.current?.places ?? placesOf(series);
    const last = places.length - 1;
    if (event.key === 'Escape') {
      choose(null);
      return;
    }
    const now = place === null ? last : places.indexOf(place);
    const page = Math.max(1, Math.round(last / 10));
    const next = {
      ArrowLeft: now - 1,
      ArrowRight: now + 1,
      PageDown: now - page,
      PageUp: now + page,
      Home: 0,
      End: last
    }[event.key];
    if (next !== undefined && last >= 0) {
      event.preventDefault();
      choose(places[Math.max(0, Math.min(last, next))]);
    }
  };

  const read = place === null ? null : valuesAt(series, place);
  const text = read
    ? [formatX(place as number), ...read.map(([name, y]) => `${name} ${formatY(y)}`)].join(', ')
    : props.label;
  return (
    <div className="jp-PaddleGpu-lineChart">
      <div
        ref={node}
        className="jp-PaddleGpu-canvas"
        style={{ minHeight: height }}
        role="slider"
        tabIndex={0}
        aria-readonly="true"
        aria-label={props.label}
        aria-valuenow={place ?? 0}
        aria-valuetext={text}
        onKeyDown={step}
        onBlur={() => choose(null)}
        hidden={failed}
      />
      {read && (
        <div className="jp-PaddleGpu-readout" aria-hidden="true">
          {text}
        </div>
      )}
      <table className={failed ? undefined : 'jp-PaddleGpu-unseen'}>
        <caption>{props.label}</caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('Curve')}</th>
            <th scope="col">{trans.__('At')}</th>
            <th scope="col">{trans.__('Value')}</th>
          </tr>
        </thead>
        <tbody>
          {series.flatMap(({ name, x, y }) =>
            spread(x.length).map(index => {
              const value = y[index];
              return (
                <tr key={`${name} ${index}`}>
                  <th scope="row">{name}</th>
                  <td>{formatX(x[index])}</td>
                  <td>{value === null ? '–' : formatY(value)}</td>
                </tr>
              );
            })
          )}
          {limits.map(({ value, label }) => (
            <tr key={`limit ${label}`}>
              <th scope="row">{label}</th>
              <td />
              <td>{formatY(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where the series have values, from left to right. */
function placesOf(series: readonly ISeries[]): number[] {
  return [...new Set(series.flatMap(({ x }) => [...x]))].sort((a, b) => a - b);
}

/** Name and value of each series that has one at a place. */
function valuesAt(series: readonly ISeries[], place: number): [string, number][] {
  return series.flatMap(({ name, x, y }): [string, number][] => {
    const index = indexOf(x, place);
    const value = index === null ? null : y[index];
    return value === null ? [] : [[name, value]];
  });
}

/** Where a place stands among places that rise; null where it does not. */
function indexOf(places: readonly number[], place: number): number | null {
  let low = 0;
  let high = places.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (places[middle] === place) {
      return middle;
    }
    if (places[middle] < place) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return null;
}

function plain(value: number): string {
  return String(Number(value.toPrecision(4)));
}
