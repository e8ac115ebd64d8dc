/**
 * What the panel knows of one notebook: what trains in it, what a step takes, where it fits, and what the person chose.
 */

import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import { type Api, type ApiError, lasting } from '../../api';
import type {
  IEstimate,
  IEstimateRequest,
  IMatched,
  INotebookFacts,
  IPlacement,
  IWay,
  IWhatIf,
  Value
} from '../../domain';
import { Batches, lineOf } from './batches';
import { AS_USUAL, figureOf, type IChoice, isElsewhere, placeOf } from '../submit/choice';
import { LiveModels } from '../notebook/liveModels';
import type { INotebookSource } from '../notebook/notebook';
import { digest, type IRemembered } from '../notebook/remembered';
import { type Opening, written } from '../notebook/written';
import { Owns } from './own';
import { Reading } from './reading';
import { keptRemedies, remembered, saidIn } from './recalled';
import { asked, behindChanges, hasOthers } from './request';
import { Asking, pause, whereChosen } from './trying';
import { Submission } from '../submit/submission';

/** Milliseconds after the last keystroke before the notebook is read anew. */
const READ_DELAY = 600;
/** Milliseconds for which nobody typed before it is computed what would help. */
const DETAILS_DELAY = 1_500;
/** Where the usual time for what helps was too short. */
const LONGER: IEstimateRequest = { details_seconds: 300 };
export class Training {
  constructor(
    private readonly _api: Api,
    private _source: INotebookSource
  ) {
    this.models = new LiveModels(_api, () => this._source);
    this._reader = new Debouncer(() => this._follow(), READ_DELAY);
    this._reading = new Reading(_api, () => this._source);
    this.submission = new Submission(_api, {
      source: () => this._source,
      asked: () => asked(this.request)
    });
    this.submission.changed.connect(() => this._changed.emit(), this);
  }

  /** What would become of a submit. */
  readonly submission: Submission;
  /** The models in the notebook's kernel. */
  readonly models: LiveModels;
  /** Memory over batch size, as far as it was traced. */
  readonly batches = new Batches();

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get source(): INotebookSource {
    return this._source;
  }

  /** What is read of it without running it. */
  get facts(): INotebookFacts | null {
    return this._reading.facts;
  }

  get factsError(): ApiError | null {
    return this._reading.error;
  }

  /** The notebook was closed and opened again, or renamed. */
  set source(source: INotebookSource) {
    this._source = source;
  }

  estimate: IEstimate | null = null;
  placement: IPlacement | null = null;
  estimateError: ApiError | null = null;
  /** When the match that is shown was asked for, in milliseconds since the epoch. */
  placed = 0;
  request: IEstimateRequest = {};
  /** What can be asked for, as the server says. */
  whatIfs: readonly IWhatIf[] = [];
  /** The notebook was edited since the estimate. */
  stale = false;
  isEstimating = false;
  /** The estimate that is under way, if any is. */
  readonly asking = new Asking();
  /** What helps is still being computed. */
  isDetailing = false;
  /** The estimate of the same code as it is, beside one that something else was asked of; null where none was made. */
  own: IEstimate | null = null;
  /** Estimate anew by itself after an edit, where the notebook is trusted and was estimated before. */
  follows = false;
  /** What is shown was kept over a reload and waits for the server's word. */
  isRecalled = false;
  /** An edit: what was read and estimated may no longer hold. New outputs change nothing. */
  edited(): void {
    this._reader.invoke().catch(() => undefined);
  }

  /** Read the notebook without running it; not again while its code is as it was. */
  async read(): Promise<void> {
    const code = this._code();
    this.stale = this._isStale(code);
    await this._reading.read(code);
    this._changed.emit();
  }

  /** Look which models the kernel holds; nothing of it changes. `ran`: it executed something since it was traced. */
  async lookAtKernel(ran = false): Promise<void> {
    const { models } = this;
    if (ran && models.chosen && !this.isEstimating) {
      models.isOld = true;
      this.stale = this._isStale(this._code());
      this._changed.emit();
    }
    if (await models.look()) {
      this._changed.emit();
    }
    const open = this.stale || models.chosen ? [] : (this.estimate?.questions ?? []);
    if (ran && !this.isEstimating && (await models.held.hasNews(open))) {
      await this.measure();
    }
  }

  /**
   * Estimate one training step and match it; then compute what would help.
   *
   * @param live the name of a model in the kernel to estimate as it is there; empty for the notebook's cells.
   */
  async measure(live = this.models.chosen): Promise<void> {
    const run = this.asking.begin();
    this.models.choose(live);
    this.isEstimating = true;
    this.isDetailing = false;
    this.estimateError = null;
    this._changed.emit();
    try {
      await this._place(run, false);
    } catch (reason) {
      if (!run.aborted) {
        this.estimateError = reason as ApiError;
      }
    }
    if (run.aborted) {
      return;
    }
    this.isEstimating = false;
    if (this.stale && !this.estimateError) {
      this.edited(); // an edit that came to rest meanwhile found an estimate under way
    }
    void this.submission.preflight();
    void this.submission.compare();
    // Each advice is a trace more, and the kernel is the person's.
    this._changed.emit();
    if (this.estimate?.status === 'ok' && !this.estimateError && !live) {
      await this.seek(run, {});
    }
  }

  /** Compute what would help, beside the number that stands: on a click for longer than by itself. */
  async seek(run = this.asking.begin(), more: IEstimateRequest = LONGER): Promise<void> {
    this.isDetailing = true;
    this._changed.emit();
    try {
      await pause(this.follows && more !== LONGER ? DETAILS_DELAY : 0);
      if (!run.aborted) {
        await this._place(run, true, more);
      }
    } catch {
      // The number stands; only the advice is missing.
    }
    if (!run.aborted) {
      this.isDetailing = false;
      this._changed.emit();
      if (this.submission.decision?.outcome === 'refuse') {
        void this.submission.preflight(); // now the ways out are known
      }
    }
  }

  /** Wait no longer for an estimate or what would help: the server ends it, and what was known stays. */
  stop(): void {
    this.asking.end();
    this.isEstimating = this.isDetailing = false;
    if (this.estimate) {
      // What else was asked for is not what the number is of; several devices stay chosen for the job.
      this.request = { ...this._answered, devices: this.request.devices };
    }
    this._changed.emit();
  }

  /** Ask again with other what-ifs; a null takes the notebook's own value. */
  ask(change: IEstimateRequest): Promise<void> {
    this.request = { ...this.request, ...change };
    return this.measure();
  }

  /** Match the same estimate anew, because the devices are no longer as they were. */
  async rematch(): Promise<void> {
    if (!this.estimate || this.isEstimating || this.stale) {
      return;
    }
    this.placed = Date.now();
    // The advice that is being computed goes on; whoever ends it ends this as well.
    const run = this.isDetailing ? this.asking.signal : this.asking.begin();
    try {
      await this._place(run, !this.isDetailing && this.estimate.remedies.length > 0);
      void this.submission.preflight(); // the foot tells until when it would wait, too
    } catch {
      // The old match stands; the devices beside it are live.
    }
  }

  /** The server is back: what failed only for want of it is not a failure any more. */
  recover(): void {
    this.submission.recover();
    this.estimateError = lasting(this.estimateError);
    if (this._reading.waits) {
      void this.read();
    }
    this._changed.emit();
  }

  /** Take a way out: ask for the change, or choose other devices, or another number of them. */
  take({ request, gpus, device_ids }: IWay): Promise<void> {
    if (device_ids.length) {
      this.choose({ gpus: device_ids.length, deviceIds: device_ids });
    } else if (gpus !== null) {
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

  /** Choose for the job; the match is made anew where devices or engine are others and there is an estimate. */
  choose(choice: Partial<IChoice>): void {
    const before = this.submission.choice;
    this.submission.choose(choice);
    if (choice.deviceIds) {
      // Several devices are there to train together: the job's copy gets what it lacks for that.
      const { length } = choice.deviceIds;
      this.request = { ...this.request, devices: length > 1 ? length : null };
    }
    void (this.estimate && isElsewhere(before, this.submission.choice)
      ? this.measure()
      : this.submission.preflight());
  }

  /** Write what the job has otherwise into the notebook and its files; from then on it is the notebook's own. */
  async write(open: Opening): Promise<void> {
    const { changes } = this.submission;
    if (changes && (await written(changes, this._source, open))) {
      this.submission.changes = null;
      this.request = behindChanges(this.request, changes, this.whatIfs);
    }
    await this.measure();
  }

  /** What is to be kept of this over a reload. */
  toRemember(): IRemembered {
    return remembered(this, this._estimated ?? '', this._api.language);
  }

  /** Take what was kept, unless something newer is known; it is stale until the server has said it again. */
  recall(kept: IRemembered): void {
    const { code, request, choice } = kept;
    const matched = saidIn(this._api.language, kept);
    if (this.estimate || this.isEstimating) {
      return;
    }
    this.request = this._answered = request;
    this.submission.choice = { ...AS_USUAL, ...choice };
    if (matched) {
      this.estimate = matched.estimate;
      this.placement = matched.placement;
      this._estimated = code;
      if (!hasOthers(this.request)) {
        this._owns.put(code, matched.estimate);
      }
      this.own = this._owns.of(code);
      this.isRecalled = true;
      this.stale = this._isStale(this._code());
    }
    this._changed.emit();
  }

  get isDisposed(): boolean {
    return this._reader.isDisposed;
  }

  dispose(): void {
    this._reader.dispose();
    this._reading.dispose();
    this.asking.end();
    this.submission.dispose();
    Signal.clearData(this);
  }

  private async _place(run: AbortSignal, details: boolean, more = {}): Promise<void> {
    const [code, live, placed] = [this._code(), this.models.chosen, Date.now()];
    const trace = live ? { trace: await this.models.trace(asked(this.request)) } : {};
    const { choice } = this.submission;
    const place = (held: IEstimateRequest) =>
      this._api.place(
        this._source.body(),
        { ...asked(this.request), ...figureOf(choice), ...held, ...more, details },
        { ...trace, ...placeOf(choice) },
        run
      );
    const forget = () => (this.request = { ...this.request, training: null });
    const first = await whereChosen(() => place({}), forget);
    const held = live ? {} : await this.models.held.of(first.estimate.questions);
    const answer = Object.keys(held).length ? await place({ held }) : first;
    if (!run.aborted) {
      this._take(answer, code, details);
      this._answered = this.request;
      this.placed = placed;
      this._estimated = live ? null : code;
      this.stale = this._isStale(this._code());
      this._changed.emit();
    }
  }

  /** Show an answer of the server's. */
  private _take(answer: IMatched, code: string, details: boolean): void {
    const before = this.estimate;
    this._reading.take(answer.facts, code);
    // What the advice took is not what the number took.
    this.estimate =
      details && before
        ? { ...answer.estimate, seconds: before.seconds }
        : { ...answer.estimate, remedies: keptRemedies(before, answer.estimate) };
    this.placement = answer.placement;
    this.isRecalled = false;
    const of = this.models.chosen ? `live ${this.models.chosen}` : code;
    if (this.estimate.status === 'ok' && !hasOthers(this.request)) {
      this._owns.put(of, this.estimate);
    }
    this.own = this._owns.of(of);
    if (!this.models.chosen) {
      this.batches.add(this.estimate, lineOf(code, this.request, this.estimate));
    }
  }

  /** An edit came to rest: read the notebook, and estimate it where that is wanted and safe. */
  private async _follow(): Promise<void> {
    // What is read comes with the estimate as well, which need not wait for it.
    const reading = this.read();
    if (
      this.stale &&
      this.follows &&
      !this.models.chosen &&
      this._source.trusted &&
      !this.isEstimating
    ) {
      await this.measure();
    }
    await reading;
  }

  private _code(): string {
    return digest(this._source.fingerprint());
  }

  /** Whether the estimate is of other code than this. */
  private _isStale(code: string): boolean {
    return (
      this.estimate !== null &&
      (this._estimated === null ? this.models.isOld : code !== this._estimated)
    );
  }

  private readonly _owns = new Owns();
  private readonly _reading: Reading;
  private readonly _reader: Debouncer<void>;
  private readonly _changed = new Signal<this, void>(this);
  /** The code that the estimate is of; null where it is of live objects, which no edit changes. */
  private _estimated: string | null = null;
  /** What the estimate that is shown was asked. */
  private _answered: IEstimateRequest = {};
}
