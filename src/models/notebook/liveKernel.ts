/**
 * What a notebook's kernel holds, asked beside its cells: an empty, silent execution with user expressions, which leaves
 * names, history and execution count as they are.
 */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';

import type { IEstimateRequest, IMessage, IQuestion, Value } from '../../domain';

/** Media type of the answers of `magics/panel.py`. */
const MIME = 'application/vnd.jupyter-paddle-gpu+json';
const MODULE = '__import__("jupyter_paddle_gpu.magics.panel", fromlist=["panel"])';

/** A model that lives in a kernel. */
export interface ILiveModel {
  /** The name in the kernel. */
  name: string;
  /** Its class. */
  type: string;
  /** How many numbers its parameters have. */
  parameters: number;
}

/** A step of a live model: its trace, packed for the server, or why there is none. */
export type LiveTrace = { trace: string } | { error: IMessage };

export interface ILiveKernel {
  /** Whether it is there and executes something. */
  readonly isBusy: boolean;
  /** The models that the kernel holds; none where it is not there or has no Paddle; null while it is busy. */
  models(): Promise<ILiveModel[] | null>;
  /** What the kernel holds by the names of open questions; nothing where it is busy or is not there. */
  held(questions: readonly IQuestion[]): Promise<Record<string, Value>>;
  /**
   * Trace a step of a model; null where the kernel cannot be asked.
   *
   * @param language of errors.
   * @param cells the sources of the notebook's code cells.
   */
  trace(
    model: string,
    request: IEstimateRequest,
    language: string,
    cells: readonly string[]
  ): Promise<LiveTrace | null>;
}

export class LiveKernel implements ILiveKernel {
  constructor(private readonly _context: ISessionContext) {}

  get isBusy(): boolean {
    return this._kernel?.status === 'busy';
  }

  async models(): Promise<ILiveModel[] | null> {
    if (this._kernel?.status !== 'idle') {
      return this.isBusy ? null : [];
    }
    const answer = await this._ask<{ models: ILiveModel[] }>(
      // What is not imported cannot have made a model; then nothing is imported for the question either.
      `${MODULE}.models() if "paddle" in __import__("sys").modules else None`
    );
    return answer?.models ?? [];
  }

  async held(questions: readonly IQuestion[]): Promise<Record<string, Value>> {
    const asked = questions
      .filter(({ name }) => name)
      .map(({ name, kind, holders }) => ({ name, kind, holders }));
    if (!asked.length || this._kernel?.status !== 'idle') {
      return {};
    }
    const text = JSON.stringify(JSON.stringify(asked));
    const answer = await this._ask<{ held: Record<string, Value> }>(
      // Names that nothing was bound to since the kernel began are no answers: then nothing is imported either.
      `${MODULE}.held(${text}) if "paddle" in __import__("sys").modules else None`
    );
    return answer?.held ?? {};
  }

  trace(
    model: string,
    request: IEstimateRequest,
    language: string,
    cells: readonly string[]
  ): Promise<LiveTrace | null> {
    const given = [model, JSON.stringify(request), language, JSON.stringify(cells)].map(one =>
      JSON.stringify(one)
    );
    return this._ask(`${MODULE}.trace(${given.join(', ')})`);
  }

  private get _kernel(): Kernel.IKernelConnection | null {
    return this._context.session?.kernel ?? null;
  }

  private async _ask<T>(expression: string): Promise<T | null> {
    const kernel = this._kernel;
    if (!kernel) {
      return null;
    }
    try {
      if ((await kernel.info).language_info.name !== 'python') {
        return null;
      }
      const { content } = await kernel.requestExecute({
        code: '',
        silent: true,
        store_history: false,
        allow_stdin: false,
        user_expressions: { answer: expression }
      }).done;
      const found = (content.status === 'ok' ? content.user_expressions.answer : null) as {
        data?: Record<string, unknown>;
      } | null;
      return (found?.data?.[MIME] as T | undefined) ?? null;
    } catch {
      return null; // the kernel was restarted or ended meanwhile
    }
  }
}
