/** The state behind the panel: the active notebook's training, the devices, the engines, the jobs. */

import { PathExt } from '@jupyterlab/coreutils';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api, ApiError } from '../api';
import type { IAccelerator, IEngineFeatures, IInventory, IJob, IWhatIf } from '../domain';
import type { EventStream } from '../events';
import { VERSION } from '../version';
import { Courses } from './devices/courses';
import { Engines } from './devices/engines';
import { Jobs } from './jobs/jobs';
import { JobViews } from './jobs/jobViews';
import type { ActiveNotebook, IRenaming } from './notebook/notebook';
import { Plans } from './plans/plans';
import { Rematch } from './estimate/rematch';
import type { Remembered } from './notebook/remembered';
import { Training } from './estimate/training';

/** Milliseconds after the last cell that ran before the kernel is asked for its models. */
const KERNEL_DELAY = 500;
/**
 * Milliseconds after an edit in which a sample of the devices is kept and not drawn: who types does not look at it, and
 * drawing one a second would make each key a tenth dearer.
 */
const TYPING = 700;
/** Milliseconds after the last news of a notebook before they are kept. */
const KEEP_DELAY = 1_000;

export class PanelModel implements IDisposable {
  constructor(
    readonly api: Api,
    readonly events: EventStream,
    readonly notebook: ActiveNotebook,
    private readonly _remembered: Remembered | null = null
  ) {
    this.jobs = new Jobs(api, events);
    this.plans = new Plans(api, this.jobs);
    this.views = new JobViews(api, events, this.jobs);
    this._engines = new Engines(api);
    this.views.changed.connect(() => this._changed.emit());
    this.plans.changed.connect(() => this._changed.emit());
    this._engines.changed.connect(() => this._changed.emit());
    events.inventory.connect(this._onInventory, this);
    events.connectionChanged.connect(this._onConnection, this);
    notebook.renamed.connect(this._onRenamed, this);
    notebook.changed.connect(this._onNotebook, this);
    notebook.edited.connect(this._onEdit, this);
    notebook.executed.connect(this._onExecuted, this);
    this.jobs.changed.connect(this._onJobs, this);
    this._onNotebook();
  }

  readonly jobs: Jobs;
  /** Sweeps and schedules. */
  readonly plans: Plans;
  /** The jobs that are shown with their last lines. */
  readonly views: JobViews;
  /** The last minutes of each device. */
  readonly courses = new Courses();

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What is known of the active notebook; null where none is open. */
  get training(): Training | null {
    return this._training;
  }

  /** The last sample; null before the first. */
  get inventory(): IInventory | null {
    return this._inventory;
  }

  /** The engine that will run it: the person's, the match's, or the first that can. */
  engineOf(training: Training): IEngineFeatures | undefined {
    return this._engines.of(training);
  }

  /** The devices that an engine's jobs can have: its own, else this machine's; null where they are not known yet. */
  devicesOf(engine: IEngineFeatures | undefined): IInventory | null {
    return engine?.own_devices ? this._engines.ownDevices(engine) : this._inventory;
  }

  get accelerators(): readonly IAccelerator[] {
    return this._accelerators;
  }

  get engines(): readonly IEngineFeatures[] {
    return this._engines.list;
  }

  /** Why the server half cannot be used, where it cannot. */
  get serverError(): ApiError | null {
    return this._serverError;
  }

  /** The server half's version where it is another one than ours. */
  get otherVersion(): string | null {
    return this._otherVersion;
  }

  get isReady(): boolean {
    return this._isReady;
  }

  /** Estimate without being asked where the notebook is trusted. */
  autoEstimate = false;

  /** Estimate anew after an edit where the notebook is trusted and was estimated before. */
  set follows(follows: boolean) {
    this._follows = follows;
    this._trainings.forEach(training => (training.follows = follows));
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Listen to the server while somebody looks at a panel; dispose the answer when it is hidden. */
  look(): IDisposable {
    if (!this._isReady) {
      void this.connect();
    }
    const watches = [this.events.watch('devices'), this.events.watch('jobs')];
    this._looking++;
    this._readActive();
    this._onJobs();
    return new DisposableDelegate(() => {
      this._looking--;
      watches.forEach(watch => watch.dispose());
    });
  }

  /** Ask whether the server half is there, and for what does not change. */
  async connect(): Promise<void> {
    if (this._connecting) {
      return this._connecting;
    }
    this._connecting = this._connect().finally(() => {
      this._connecting = null;
      this._changed.emit();
    });
    return this._connecting;
  }

  /** Try everything again that failed. */
  retry(): void {
    void this.connect();
    this.events.retry();
    const training = this._training;
    if (training?.factsError) {
      void training.read();
    }
  }

  /** Submit the active notebook and show the job's first lines. */
  async submit(anyway = false): Promise<IJob | null> {
    const job = (await this._training?.submission.submit(anyway)) ?? null;
    if (job) {
      if (this._training?.submission.choice.result === 'open') {
        this._opens.add(job.id);
      }
      this.jobs.put(job);
      this.views.show(job.id);
    }
    return job;
  }

  /** Whether a job's executed notebook is to be opened now that it is done; asked once. */
  takeOpening(id: string): boolean {
    return this._opens.delete(id);
  }

  /** Run a job again and show its first lines. */
  async rerun(id: string): Promise<IJob | null> {
    const job = await this.jobs.rerun(id);
    if (job) {
      this.views.show(job.id);
    }
    return job;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this.views.dispose();
    this._engines.dispose();
    this._keeper.dispose();
    this._kernelLook.dispose();
    this._trainings.forEach(training => training.dispose());
    this.plans.dispose();
    this.jobs.dispose();
    this.notebook.dispose();
    this.events.dispose();
    Signal.clearData(this);
  }

  private async _connect(): Promise<void> {
    try {
      const { version } = await this.api.version();
      this._otherVersion = version === VERSION ? null : version;
      const [engines, accelerators, whatIfs, inventory] = await Promise.all([
        this.api.engines(),
        this.api.accelerators(),
        this.api.whatIfs(),
        this.api.devices(),
        this.jobs.refresh()
      ]);
      this._engines.list = engines;
      this._accelerators = accelerators;
      this._whatIfs = whatIfs;
      this._trainings.forEach(training => (training.whatIfs = whatIfs));
      this._inventory = inventory;
      void this._engines.readDevices(this._training);
      this._serverError = null;
      this._isReady = true;
      this._readActive();
    } catch (reason) {
      this._serverError = reason as ApiError;
    }
  }

  private _onInventory(_: EventStream, inventory: IInventory): void {
    this._inventory = inventory;
    this.courses.add(inventory);
    const training = this._training;
    if (training && this._rematch.isDue(training, inventory.devices, this.jobs.list)) {
      void training.rematch();
    }
    if (Date.now() - this._edited > TYPING) {
      this._changed.emit();
    }
  }

  private _onConnection(): void {
    const { connection } = this.events;
    this._wasAway ||= connection === 'offline' || connection === 'refused';
    if (connection === 'socket' || connection === 'polling') {
      if (this._serverError || this._wasAway) {
        // The server may be another one than before.
        this._wasAway = false;
        void this.connect();
      }
      this._training?.recover();
      this.jobs.recover();
    }
    this._changed.emit();
  }

  private _onNotebook(): void {
    const source = this.notebook.current;
    this._training?.changed.disconnect(this._onTraining, this);
    this._training = null;
    if (source) {
      let training = this._trainings.get(source.path);
      if (training) {
        training.source = source;
      } else {
        training = new Training(this.api, source);
        training.whatIfs = this._whatIfs;
        training.follows = this._follows;
        this._trainings.set(source.path, training);
        this._recalled = this._recall(training);
      }
      this._training = training;
      training.changed.connect(this._onTraining, this);
      void this._engines.readDevices(this._training);
      this._readActive();
    }
    this._changed.emit();
  }

  /** What is known of a notebook goes with it; in another folder it may find other files and modules. */
  private _onRenamed(_: ActiveNotebook, { from, to }: IRenaming): void {
    const training = this._trainings.get(from);
    this._trainings.delete(from);
    void this._remembered?.move(from, to);
    if (training && PathExt.dirname(from) === PathExt.dirname(to)) {
      this._trainings.set(to, training);
    } else {
      training?.dispose();
    }
  }

  private _onEdit(): void {
    this._edited = Date.now();
    if (this._looking) {
      this._training?.edited();
    }
  }

  /** A cell ran: it may have made a model. Asked once the kernel has come to rest. */
  private _onExecuted(): void {
    this._kernelLook.invoke().catch(() => undefined);
  }

  private _onTraining(): void {
    void this._engines.readDevices(this._training);
    this._keeper.invoke().catch(() => undefined);
    this._changed.emit();
  }

  private _onJobs(): void {
    this.views.follow(this._training?.source.path, this._looking > 0);
  }

  private async _recall(training: Training): Promise<void> {
    const kept = await this._remembered?.get(training.source.path);
    if (kept && !training.isDisposed) {
      training.recall(kept);
    }
  }

  /** Read the active notebook where somebody looks; estimate it too where that is wanted and safe. */
  private _readActive(): void {
    const training = this._training;
    if (!training || !this._looking || !this._isReady) {
      return;
    }
    void training.lookAtKernel();
    void this._recalled
      .then(() => training.read())
      .then(() => {
        const trains = training.facts && training.facts.loop !== 'none';
        const wanted = training.estimate
          ? this._follows && !training.models.chosen && (training.isRecalled || training.stale)
          : this.autoEstimate && trains;
        if (wanted && training.source.trusted && !training.isEstimating) {
          void training.measure();
        }
      });
  }

  private readonly _kernelLook = new Debouncer(async () => {
    if (this._looking) {
      await this._training?.lookAtKernel(true);
    }
  }, KERNEL_DELAY);
  /** Writes down what is known of the notebook, once it is at rest. */
  private readonly _keeper = new Debouncer(async () => {
    const training = this._training;
    if (training && !training.isEstimating && !training.isRecalled) {
      await this._remembered?.put(training.source.path, training.toRemember());
    }
  }, KEEP_DELAY);
  private readonly _trainings = new Map<string, Training>();
  private _training: Training | null = null;
  private _recalled: Promise<void> = Promise.resolve();
  private _follows = false;
  /** Jobs whose executed notebook is to be opened. */
  private readonly _opens = new Set<string>();
  private _inventory: IInventory | null = null;
  private _accelerators: IAccelerator[] = [];
  private readonly _engines: Engines;
  private _whatIfs: IWhatIf[] = [];
  private _serverError: ApiError | null = null;
  private _wasAway = false;
  private _otherVersion: string | null = null;
  private _connecting: Promise<void> | null = null;
  private _isReady = false;
  private readonly _rematch = new Rematch();
  private _looking = 0;
  /** When the notebook was edited last, in milliseconds since the epoch. */
  private _edited = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}
