/**
 * What the panel knows of one notebook: what trains in it, what a step takes, where it fits, and what the person chose.
 */

import { UUID } from '@lumino/coreutils';
import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import { type Api, ApiError, lasting } from '../api';
import type {
  IChanges,
  IDecision,
  IEstimate,
  IEstimateRequest,
  IJob,
  IMessage,
  INotebookFacts,
  IPlacement,
  IPreflight,
  ISubmission,
  IWay,
  IWhatIf,
  Value
} from '../domain';
import type { ILiveModel } from './liveKernel';
import type { INotebookSource } from './notebook';

/** Milliseconds after the last keystroke before the notebook is read anew. */
const READ_DELAY = 600;

/** Where to run; what is null or empty is chosen by the policy. */
export interface IChoice {
  engine: string;
  /** null: as the policy says; 0: on the CPU. */
  gpus: number | null;
  deviceIds: string[];
}

export class Training {
  constructor(
    private readonly _api: Api,
    private _source: INotebookSource
  ) {
    this._reader = new Debouncer(() => this.read(), READ_DELAY);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get source(): INotebookSource {
    return this._source;
  }

  /** The notebook was closed and opened again, or renamed. */
  set source(source: INotebookSource) {
    this._source = source;
  }

  facts: INotebookFacts | null = null;
  factsError: ApiError | null = null;
  estimate: IEstimate | null = null;
  placement: IPlacement | null = null;
  estimateError: ApiError | null = null;
  submitError: ApiError | null = null;
  /** What a submit would be refused with, as of the last match or choice. */
  hindrances: IMessage[] = [];
  /** What the job's copy has otherwise than the notebook; null where nothing was asked for. */
  changes: IChanges | null = null;
  /** What becomes of the job as it will run, as of the last match or choice; null: nobody can say. */
  decision: IDecision | null = null;
  /** When the last match was made, in milliseconds since the epoch. */
  placed = 0;
  request: IEstimateRequest = {};
  /** What can be asked for, as the server says. */
  whatIfs: readonly IWhatIf[] = [];
  choice: IChoice = { engine: '', gpus: null, deviceIds: [] };
  /** The notebook was edited since the estimate. */
  stale = false;
  isEstimating = false;
  /** What helps is still being computed. */
  isDetailing = false;
  isSubmitting = false;
  /** The models that the notebook's kernel holds, as of the last look. */
  liveModels: readonly ILiveModel[] = [];
  /** The name of the live model that the estimate is of; empty: of the notebook's cells. */
  live = '';

  /** An edit: what was read and estimated may no longer hold. New outputs change nothing. */
  edited(): void {
    this._reader.invoke().catch(() => undefined);
  }

  /** Read the notebook without running it; not again while its code is as it was. */
  async read(): Promise<void> {
    const code = this._source.fingerprint();
    this.stale = this._isStale(code);
    if (code === this._read && this.facts && !this.factsError) {
      this._changed.emit();
      return;
    }
    const run = ++this._reads;
    try {
      const facts = await this._api.inspect(this._source.body());
      if (run === this._reads) {
        this.facts = facts;
        this.factsError = null;
        this._read = code;
      }
    } catch (reason) {
      if (run === this._reads) {
        this.factsError = reason as ApiError;
      }
    }
    this._changed.emit();
  }

  /** Look which models the notebook's kernel holds; nothing of it changes. */
  async lookAtKernel(): Promise<void> {
    const models = (await this._source.kernel?.models()) ?? [];
    if (JSON.stringify(models) !== JSON.stringify(this.liveModels)) {
      this.liveModels = models;
      this._changed.emit();
    }
  }

  /**
   * Estimate one training step and match it; then compute what would help.
   *
   * @param live the name of a model in the kernel to estimate as it is there; empty for the notebook's cells.
   */
  async measure(live = this.live): Promise<void> {
    const run = ++this._estimates;
    this.live = live;
    this._trace = '';
    this.isEstimating = true;
    this.isDetailing = false;
    this.estimateError = null;
    this._changed.emit();
    try {
      await this._place(run, false);
    } catch (reason) {
      if (run === this._estimates) {
        this.estimateError = reason as ApiError;
      }
    }
    if (run !== this._estimates) {
      return;
    }
    this.isEstimating = false;
    void this.preflight();
    void this.compare();
    // Each advice is a trace more, and the kernel is the person's.
    this.isDetailing = this.estimate?.status === 'ok' && !this.estimateError && !live;
    this._changed.emit();
    if (this.isDetailing) {
      try {
        await this._place(run, true);
      } catch {
        // The number stands; only the advice is missing.
      }
      if (run === this._estimates) {
        this.isDetailing = false;
        this._changed.emit();
        if (this.decision?.outcome === 'refuse') {
          void this.preflight(); // now the ways out are known
        }
      }
    }
  }

  /** Ask again with other what-ifs; a null takes the notebook's own value. */
  ask(change: IEstimateRequest): Promise<void> {
    this.request = { ...this.request, ...change };
    return this.measure();
  }

  /** Match the same estimate anew, because the devices are no longer as they were. */
  async rematch(): Promise<void> {
    if (!this.estimate || this.isEstimating || this.isDetailing || this.stale) {
      return;
    }
    this.placed = Date.now();
    const run = ++this._estimates;
    try {
      await this._place(run, this.estimate.remedies.length > 0);
    } catch {
      // The old match stands; the devices beside it are live.
    }
  }

  /** The server is back: what failed only for want of it is not a failure any more. */
  recover(): void {
    this.submitError = lasting(this.submitError);
    this.estimateError = lasting(this.estimateError);
    if (this.factsError && !lasting(this.factsError)) {
      void this.read();
    }
    this._changed.emit();
  }

  /** Take a way out: ask for the change, or choose another number of devices. */
  take({ request, gpus }: IWay): Promise<void> {
    if (gpus !== null) {
      this.choose({ gpus, deviceIds: [] });
    }
    return Object.keys(request).length ? this.ask(request) : Promise.resolve();
  }

  /** Note what the next estimate is to be asked, without making one. */
  prepare(change: IEstimateRequest): void {
    this.request = { ...this.request, ...change };
    this._changed.emit();
  }

  /** Answer an open question. */
  answer(name: string, value: Value): Promise<void> {
    return this.ask({ answers: { ...this.request.answers, [name]: value } });
  }

  /** Choose engine or devices; the match is made anew where there is an estimate. */
  choose(choice: Partial<IChoice>): void {
    this.choice = { ...this.choice, ...choice };
    if (choice.deviceIds) {
      // Several devices are there to train together: the job's copy gets what it lacks for that.
      const { length } = choice.deviceIds;
      this.request = { ...this.request, devices: length > 1 ? length : null };
    }
    this._forget();
    void (this.estimate ? this.measure() : this.preflight());
  }

  /** Ask what a submit would be refused with, before somebody tries. */
  async preflight(): Promise<void> {
    const run = ++this._preflights;
    let found: IPreflight = { problems: [], notes: [], decision: null };
    try {
      found = await this._api.preflight(this._source.body(), this._wanted());
    } catch {
      // The submit itself will say it.
    }
    if (run === this._preflights) {
      this.hindrances = [...found.problems, ...found.notes];
      this.decision = found.decision;
      this._changed.emit();
    }
  }

  /** Ask what a job has otherwise than the notebook, before it is submitted. */
  async compare(): Promise<void> {
    const run = ++this._compares;
    let found: IChanges | null = null;
    try {
      const { answers: _, ...asked } = this._asked();
      found = Object.keys(asked).length
        ? await this._api.changes(this._source.body(), this._asked())
        : null;
    } catch {
      // The submit itself will say it.
    }
    if (run === this._compares) {
      this.changes = found;
      this._changed.emit();
    }
  }

  /** Write what the job has otherwise into the notebook; from then on it is the notebook's own. */
  async write(): Promise<void> {
    const changes = this.changes;
    if (!changes?.cells.length) {
      return;
    }
    this._source.write?.(changes.cells);
    this.changes = null;
    const refused = new Set(changes.refused.map(({ change }) => change));
    const kept = this.whatIfs.filter(({ in_jobs, name }) => !in_jobs || refused.has(name));
    const names = new Set(['answers', 'target', 'device', ...kept.map(({ name }) => name)]);
    this.request = Object.fromEntries(
      Object.entries(this.request).filter(([name]) => names.has(name))
    );
    await this.measure();
  }

  /** Submit the notebook as it is on the screen; `anyway`: though it will not fit. */
  async submit(anyway = false): Promise<IJob | null> {
    if (this.isSubmitting) {
      return null;
    }
    this.isSubmitting = true;
    this.submitError = null;
    this.hindrances = [];
    this._changed.emit();
    try {
      return await this._api.submit(this._source.body(), {
        token: UUID.uuid4(),
        ...this._wanted(),
        ...(anyway ? { anyway } : {})
      });
    } catch (reason) {
      this.submitError = reason as ApiError;
      void this.preflight(); // what would lead to a job
      return null;
    } finally {
      this.isSubmitting = false;
      this._changed.emit();
    }
  }

  dispose(): void {
    this._reader.dispose();
    this._reads = this._estimates = this._preflights = this._compares = NaN;
    Signal.clearData(this);
  }

  private async _place(run: number, details: boolean): Promise<void> {
    const { engine, gpus, deviceIds } = this.choice;
    const code = this._source.fingerprint();
    if (this.live && !this._trace) {
      this._trace = await this._traceLive();
    }
    const answer = await this._api.place(
      this._source.body(),
      { ...this._asked(), details },
      {
        ...(this.live ? { trace: this._trace } : {}),
        ...(engine ? { engine } : {}),
        ...(gpus !== null ? { gpus, device_ids: deviceIds } : {})
      }
    );
    if (run === this._estimates) {
      this.facts = answer.facts;
      this.factsError = null;
      this.estimate = answer.estimate;
      this.placement = answer.placement;
      this.placed = Date.now();
      this._estimated = this.live ? null : code;
      this._read = code;
      this.stale = this._isStale(this._source.fingerprint());
      this._changed.emit();
    }
  }

  /** Whether the estimate is of other code than this. */
  private _isStale(code: string): boolean {
    return this.estimate !== null && this._estimated !== null && code !== this._estimated;
  }

  private async _traceLive(): Promise<string> {
    const answer = await this._source.kernel?.trace(this.live, this._asked());
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

  /** What was said of another choice does not hold for this one. */
  private _forget(): void {
    this.submitError = null;
    this.hindrances = [];
    this.decision = null;
    this._changed.emit();
  }

  /** What was chosen for the job. */
  private _wanted(): ISubmission {
    const { engine, gpus, deviceIds } = this.choice;
    return {
      request: this._asked(),
      ...(engine ? { engine } : {}),
      ...(gpus !== null ? { resources: { gpus, device_ids: deviceIds } } : {})
    };
  }

  /** The request without what was taken back. */
  private _asked(): IEstimateRequest {
    return Object.fromEntries(
      Object.entries(this.request).filter(([, value]) => value !== null)
    );
  }

  private readonly _reader: Debouncer<void>;
  private readonly _changed = new Signal<this, void>(this);
  private _read = '';
  /** The code that the estimate is of; null where it is of live objects, which no edit changes. */
  private _estimated: string | null = null;
  /** The trace of the live model, packed; empty before it was asked for. */
  private _trace = '';
  private _reads = 0;
  private _estimates = 0;
  private _preflights = 0;
  private _compares = 0;
}
