/** The models that a notebook's kernel holds, and the one of them that is estimated as it is there. */

import { type Api, ApiError } from '../../api';
import type { IEstimateRequest } from '../../domain';
import type { ILiveModel } from './liveKernel';
import type { INotebookSource } from './notebook';

export class LiveModels {
  constructor(
    private readonly _api: Api,
    private readonly _source: () => INotebookSource
  ) {}

  /** As of the last look. */
  list: readonly ILiveModel[] = [];

  /** The name of the model that the estimate is of; empty: of the notebook's cells. */
  get chosen(): string {
    return this._chosen;
  }

  /** Estimate another one, or the same as it is now. */
  choose(name: string): void {
    this._chosen = name;
    this._trace = '';
  }

  /** Look which models there are; nothing of the kernel changes. Whether they are others than before. */
  async look(): Promise<boolean> {
    const models = (await this._source().kernel?.models()) ?? [];
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
    const answer = await this._source().kernel?.trace(
      this._chosen,
      request,
      this._api.language
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

  private _chosen = '';
  private _trace = '';
}
