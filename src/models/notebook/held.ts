/** What the notebook's kernel holds by the names of open questions, each the first that is suggested. */

import type { IQuestion, Value } from '../../domain';
import type { ILiveKernel } from './liveKernel';

export class Held {
  constructor(private readonly _kernel: () => ILiveKernel | undefined) {}

  /** What it holds now. */
  async of(questions: readonly IQuestion[]): Promise<Record<string, Value>> {
    if (!questions.length) {
      return {};
    }
    this._last = (await this._kernel()?.held(questions)) ?? {};
    return this._last;
  }

  /** Whether it holds something else than when it was last asked: a cell that ran may have made it. */
  async hasNews(questions: readonly IQuestion[]): Promise<boolean> {
    const before = this._last;
    const now = Object.entries(await this.of(questions));
    return now.some(([name, value]) => before[name] !== value);
  }

  private _last: Record<string, Value> = {};
}
