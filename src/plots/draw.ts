/** Draws curves on a canvas with uPlot. Loaded when the first chart is shown, not with the page. */

import uPlot from 'uplot';

import { framed, type ILimit, type IMark, type ISeries } from './series';
import { short } from './steps';
import { type IPalette, palette } from './theme';

/** Pixels between two ticks of the vertical axis at least; fewer in a chart that is lower than so many. */
const SPACE = 30;
const LOW_SPACE = 18;
const LOW = 120;
/** Pixels of width up to which a chart is as high as it was asked for; a wider one is higher, so that curves stay curves. */
const USUAL_WIDTH = 400;
const HIGHER = 1.6;

export interface IDrawing {
  series: readonly ISeries[];
  limits: readonly ILimit[];
  marks: readonly IMark[];
  height: number;
  /** Charts with the same key share the crosshair. */
  sync?: string;
  low?: number;
  high?: number;
  /** Where the horizontal axis ends that begins at 0; by default it is that of the places. */
  end?: number;
  /** Distances between ticks that may be taken, rising; by default round numbers of ten. */
  stepsX?: readonly number[];
  stepsY?: readonly number[];
  formatX: (x: number) => string;
  formatY: (y: number) => string;
  /** The chosen place, or null. */
  onCursor: (x: number | null) => void;
}

/** A chart on the page: takes new data, another width, a place for its crosshair. */
export class Plot {
  constructor(
    private readonly _node: HTMLElement,
    private _drawing: IDrawing
  ) {
    this._colors = palette(_node);
    this._plot = this._make();
  }

  /** Draw other data; the chart is made anew only where its series are others. */
  update(drawing: IDrawing): void {
    const before = this._drawing;
    this._drawing = drawing;
    if (shape(before) === shape(drawing)) {
      this._plot.setData(joined(drawing.series));
    } else {
      this.redraw();
    }
  }

  /** Draw all of it anew, as after a change of theme; as wide as before, since a page between two themes has no layout. */
  redraw(): void {
    const { width } = this._plot;
    this._plot.destroy();
    this._colors = palette(this._node);
    this._plot = this._make(width);
  }

  resize(width: number): void {
    if (width > 0 && width !== this._plot.width) {
      this._plot.setSize({ width, height: this._height(width) });
    }
  }

  /** Places that have a value, from left to right. */
  get places(): readonly number[] {
    return this._plot.data[0] as readonly number[];
  }

  /** Put the crosshair at a place, or take it away. */
  point(x: number | null): void {
    const left = x === null ? -10 : this._plot.valToPos(x, 'x');
    this._plot.setCursor({ left, top: x === null ? -10 : this._plot.over.clientHeight / 2 });
  }

  dispose(): void {
    this._plot.destroy();
  }

  private _make(width = Math.max(this._node.clientWidth, 60)): uPlot {
    const { series, sync, stepsX, stepsY, formatX, formatY } = this._drawing;
    const height = this._height(width);
    const colors = this._colors;
    let last = '';
    const axis = {
      stroke: colors.text,
      font: colors.font,
      grid: { stroke: colors.grid, width: 1 },
      ticks: { show: false }
    };
    return new uPlot(
      {
        width,
        height,
        legend: { show: false },
        // The last place may stand at the very end: half of its words lie beyond it.
        padding: [8, () => widthOf([last]) / 2, 0, 0],
        cursor: {
          y: false,
          drag: { x: false, y: false, setScale: false },
          points: { size: 6 },
          ...(sync ? { sync: { key: sync, scales: ['x', null] } } : {})
        },
        scales: {
          x: {
            time: false,
            range: ({ data }, first, last) => this._reach(data[0], first, last)
          },
          y: { range: (_, low, high) => this._range(low, high) }
        },
        axes: [
          {
            ...axis,
            ...steps(stepsX),
            size: 24,
            gap: 2,
            values: (_, places) => {
              const words = places.map(formatX);
              last = words.at(-1) ?? '';
              return words;
            }
          },
          {
            ...axis,
            ...steps(stepsY),
            size: sizeOf(formatY),
            space: height < LOW ? LOW_SPACE : SPACE,
            gap: 4,
            values: (_, ticks) =>
              ticks.map(tick => (this._isBeyond(tick) ? '' : short(formatY(tick))))
          }
        ],
        series: [
          {},
          ...series.map((one, index) => ({
            label: one.name,
            stroke: one.dashed ? colors.quiet : colors.curve(one.color ?? index),
            width: one.dashed ? 1.2 : 1.6,
            ...(one.dashed ? { dash: [5, 4] } : {}),
            spanGaps: one.dashed,
            points: { show: one.y.length < 2 }
          }))
        ],
        hooks: {
          draw: [plot => this._lines(plot)],
          setCursor: [
            plot => {
              const { idx } = plot.cursor;
              const place = typeof idx === 'number' ? plot.data[0][idx] : null;
              this._drawing.onCursor(place ?? null);
            }
          ]
        }
      },
      joined(series),
      this._node
    );
  }

  /** The extent of the horizontal axis; no place lies beyond it. */
  private _reach(
    places: ArrayLike<number>,
    first: number | null,
    last: number | null
  ): [number, number] {
    const { end } = this._drawing;
    if (end === undefined) {
      return [first ?? 0, last ?? 1];
    }
    // Around a single place uPlot has put as much again; charts beside it end where their times do.
    const from = Math.min(0, places[0] ?? 0);
    return [from, Math.max(end, places[places.length - 1] ?? 0) || 1];
  }

  private _height(width: number): number {
    return Math.round(
      this._drawing.height * Math.max(1, Math.min(HIGHER, width / USUAL_WIDTH))
    );
  }

  /** The extent of the vertical axis: values and limits, unless it is told. */
  private _range(least: number | null, greatest: number | null): [number, number] {
    const { low, high, limits } = this._drawing;
    this._least = least ?? 0;
    this._greatest = greatest ?? 1;
    return framed([least, greatest, ...limits.map(({ value }) => value)], low, high);
  }

  /** Whether a place is in the room around the values and no such value can be: below 0, or above the whole. */
  private _isBeyond(tick: number): boolean {
    return (tick < 0 && this._least >= 0) || (tick > 1 && this._greatest === 1);
  }

  /** Limits and the begins of epochs, with their names. */
  private _lines(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const { limits, marks } = this._drawing;
    ctx.save();
    ctx.font = scaled(this._colors.font, devicePixelRatio);
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = ctx.fillStyle = this._colors.quiet;
    // The axes leave how their own words are set.
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    const right = bbox.left + bbox.width;
    const row = 16 * devicePixelRatio;
    const names = limits.map(({ value, label }) => {
      const top = plot.valToPos(value, 'y', true);
      return { top, label, left: right - 2 - ctx.measureText(`${label} `).width };
    });
    // Names of epochs end before that of a limit which stands in their row.
    const end = Math.min(
      ...names.filter(({ top }) => top - bbox.top < 2 * row).map(({ left }) => left),
      Infinity
    );
    let free = -Infinity;
    for (const { x, label } of marks) {
      const left = plot.valToPos(x, 'x', true);
      if (left >= bbox.left && left <= right) {
        line(ctx, left, bbox.top, left, bbox.top + bbox.height, [1, 3]);
        const begin = left + 3 * devicePixelRatio;
        const { width } = ctx.measureText(label);
        // A name that would lie over the one before is left out.
        if (begin > free && begin + width < end) {
          ctx.fillText(label, begin, bbox.top);
          free = begin + ctx.measureText(`${label} `).width;
        }
      }
    }
    ctx.fillStyle = this._colors.limit;
    ctx.textAlign = 'right';
    for (const { top, label } of names) {
      ctx.strokeStyle = this._colors.limit;
      line(ctx, bbox.left, top, right, top, [4, 3]);
      ctx.textBaseline = top - bbox.top > row ? 'bottom' : 'top';
      // The begin of an epoch goes on behind the name.
      ctx.strokeStyle = this._colors.ground;
      ctx.setLineDash([]);
      ctx.lineWidth = 3 * devicePixelRatio;
      ctx.strokeText(label, right - 2, top);
      ctx.fillText(label, right - 2, top);
      ctx.lineWidth = devicePixelRatio;
    }
    ctx.restore();
  }

  private _least = 0;
  private _greatest = 1;
  private _colors: IPalette;
  private _plot: uPlot;
}

/** Those distances between ticks, where some are given. */
function steps(given: readonly number[] | undefined): Pick<uPlot.Axis, 'incrs'> {
  return given ? { incrs: [...given] } : {};
}

/** All series over the places of all of them. */
function joined(series: readonly ISeries[]): uPlot.AlignedData {
  const tables = series.map(({ x, y }) => [x, y] as unknown as uPlot.AlignedData);
  const [first] = tables;
  if (!first) {
    return [[]];
  }
  return tables.every(([x]) => x === first[0])
    ? [first[0], ...tables.map(([, y]) => y as number[])]
    : uPlot.join(tables);
}

/** What cannot be changed in a chart that is there. */
function shape({ series, height, sync }: IDrawing): string {
  const names = series.map(({ name, dashed, color }) => [name, dashed, color]);
  return JSON.stringify([names, height, sync]);
}

/** Width of the vertical axis. */
function sizeOf(format: (y: number) => string): uPlot.Axis.Size {
  return (_, values) => 6 + widthOf(values ?? [format(0)]);
}

/** Pixels that the longest of some words takes beside an axis, at least. */
function widthOf(words: readonly string[]): number {
  return 6 + 6 * Math.max(...words.map(word => String(word).length), 2);
}

function line(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  toX: number,
  toY: number,
  dash: number[]
): void {
  ctx.setLineDash(dash.map(length => length * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

/** A font for a canvas whose pixels are smaller than those of the page. */
function scaled(font: string, ratio: number): string {
  return font.replace(/^([\d.]+)px/, (_, size) => `${Number(size) * ratio}px`);
}
