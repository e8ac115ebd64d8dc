/** Training curves read from the lines a training prints: `loss: 0.41 - acc: 0.87`, `epoch 3 loss 0.0713`. */

import type { ILogLine } from '../domain';

/** Points kept of a curve; beyond that every second one goes. */
const POINTS_KEPT = 4_000;

const WORDS =
  'loss|acc|accuracy|acc_top\\d|top\\d(?:_acc)?|f1|auc|miou|iou|map|ppl|perplexity|bleu|error|mae|mse|rmse|psnr|reward|lr';
const PAIR = new RegExp(
  `(?:^|[\\s,;|{(\\["'])((?:(?:train|val|valid|validation|eval|test)[ _/-])?(?:${WORDS}))["']?\\s*(?:[:=]\\s*|\\s)` +
    '["\\[]?(-?\\d+(?:\\.\\d*)?(?:e[+-]?\\d+)?)(?![\\w/])',
  'gi'
);

export interface IPoint {
  /** Seconds since the epoch. */
  time: number;
  value: number;
}

export class Metrics {
  /** Name -> curve, in the order in which the names appeared. */
  readonly curves = new Map<string, IPoint[]>();

  /** Number of the next line to read; lines before it were read. */
  get next(): number {
    return this._next;
  }

  /** Read lines in order; those that were read before are passed over. */
  read(lines: readonly ILogLine[]): void {
    for (const line of lines) {
      if (line.n < this._next) {
        continue;
      }
      this._next = line.n + 1;
      if (line.s !== 'system') {
        for (const [, name, value] of line.x.matchAll(PAIR)) {
          this._add(name.toLowerCase().replace(/[ /-]/, '_'), line.t, Number(value));
        }
      }
    }
  }

  private _add(name: string, time: number, value: number): void {
    const curve = this.curves.get(name) ?? [];
    curve.push({ time, value });
    this.curves.set(
      name,
      curve.length > POINTS_KEPT ? curve.filter((_, index) => index % 2 === 0) : curve
    );
  }

  private _next = 0;
}
