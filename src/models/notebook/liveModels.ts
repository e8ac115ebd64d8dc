/** The models that a notebook's kernel holds, and the one of them that is estimated as it is there. */

import type { PartialJSONObject } from '@lumino/coreutils';

import { type Api, ApiError } from '../../api';
import type { IEstimateRequest } from '../../domain';
import { Held } from './held';
import type { ILiveModel } from './liveKernel';
import type { INotebookSource } from './notebook';

export class LiveModels {
  constructor(
    private readonly _api: Api,
    private readonly _source: () => INotebookSource
  ) {}

  /** What the kernel holds by the names of questions. */
  readonly held = new Held(() => this._source().kernel);
  /** As of the last look. */
  list: readonly ILiveModel[] = [];

  /** The name of the model that the estimate is of; empty: of the notebook's cells. */
  get chosen(): string {
    return this._chosen;
  }

  /** The kernel executed something since the chosen one was traced. */
  isOld = false;

  /** Estimate another one, or the same as it is now. */
  choose(name: string): void {
    this._chosen = name;
    this._trace = '';
    this.isOld = false;
  }

  /** Look which models there are; nothing of the kernel changes. Whether they are others than before. */
  async look(): Promise<boolean> {
    const { kernel } = this._source();
    const models = kernel ? await kernel.models() : [];
    if (!models) {
      return false; // it is busy: what it held stands
    }
    const isNew = JSON.stringify(models) !== JSON.stringify(this.list);
    if (isNew) {
      this.list = models;
    }
    return isNew;
  }

  /** A step of the chosen model, packed for the server; asked of the kernel once. Throws an `ApiError`. */
  async trace(request: IEstimateRequest): Promise<string> {
    if (this._trace) {
      return this._trace;
    }
    const chosen = this._chosen;
    const trace = await this._ask(request);
    if (chosen === this._chosen) {
      this._trace = trace;
    }
    return trace;
  }

  private async _ask(request: IEstimateRequest): Promise<string> {
    const { kernel } = this._source();
    if (kernel?.isBusy) {
      // A question would wait until its cell has ended, which may take days.
      throw new ApiError(
        'kernel_busy',
        this._api.trans.__('The kernel is busy.'),
        this._api.trans.__(
          'Try again when its cell has ended, or press %1 again: the estimate is of the cells then.',
          this._chosen
        ),
        0
      );
    }
    const answer = await kernel?.trace(
      this._chosen,
      request,
      this._api.language,
      this._sources()
    );
    if (!answer) {
      throw new ApiError(
        'kernel_silent',
        this._api.trans.__('The kernel gave no answer.'),
        this._api.trans.__(
          'It may have been restarted: run the cells that make the model again.'
        ),
        0
      );
    }
    if ('error' in answer) {
      throw new ApiError(answer.error.code, answer.error.message, answer.error.hint, 422);
    }
    return answer.trace;
  }

  private _sources(): string[] {
    const content = this._source().body().content as PartialJSONObject | undefined;
    return ((content?.cells ?? []) as PartialJSONObject[])
      .filter(cell => cell.cell_type === 'code')
      .map(({ source }) => (Array.isArray(source) ? source.join('') : String(source)));
  }

  private _chosen = '';
  private _trace = '';
}
