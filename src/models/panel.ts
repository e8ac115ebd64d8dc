/** The state behind the panel: the active notebook's training, the devices, the engines, the jobs. */

import { PathExt } from '@jupyterlab/coreutils';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import type { Api, ApiError } from '../api';
import type {
  IAccelerator,
  IDevice,
  IEngineFeatures,
  IInventory,
  IJob,
  IWhatIf
} from '../domain';
import type { EventStream } from '../events';
import { VERSION } from '../version';
import { Courses } from './courses';
import { Jobs } from './jobs';
import { JobView } from './jobView';
import type { ActiveNotebook, IRenaming } from './notebook';
import type { Remembered } from './remembered';
import { Training } from './training';

/** Milliseconds between two matches that nobody asked for. */
const REMATCH_TIME = 20_000;
/** Milliseconds after the last cell that ran before the kernel is asked for its models. */
const KERNEL_DELAY = 500;
/** Milliseconds after the last news of a notebook before they are kept. */
const KEEP_DELAY = 1_000;
/** Bytes by which a device's free memory must have moved before its verdict is made anew. */
const REMATCH_BYTES = 512 * 2 ** 20;

export class PanelModel implements IDisposable {
  constructor(
    readonly api: Api,
    readonly events: EventStream,
    readonly notebook: ActiveNotebook,
    private readonly _remembered: Remembered | null = null
  ) {
    this.jobs = new Jobs(api, events);
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
    const name = training.submission.choice.engine || training.placement?.engine;
    return (
      this._engines.find(engine => engine.name === name) ??
      this._engines.find(engine => engine.available) ??
      this._engines[0]
    );
  }

  /** The devices that an engine's jobs can have: its own, else this machine's; null where they are not known yet. */
  devicesOf(engine: IEngineFeatures | undefined): IInventory | null {
    return engine?.own_devices ? (this._own.get(engine.name) ?? null) : this._inventory;
  }

  get accelerators(): readonly IAccelerator[] {
    return this._accelerators;
  }

  get engines(): readonly IEngineFeatures[] {
    return this._engines;
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

  /** The job that comes first: under way, of this notebook rather than of another; null where none is. */
  get running(): JobView | null {
    return this._running;
  }

  /** The job whose last lines are shown in the panel. */
  get expanded(): JobView | null {
    return this._expanded;
  }

  /** Id of the job that was submitted last from here; empty before the first. */
  get submitted(): string {
    return this._submitted;
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

  /** Show or hide a job's last lines in the panel. */
  expand(id: string | null): void {
    if (this._expanded?.id !== id) {
      this._expanded?.dispose();
      this._expanded = id ? this.openJob(id) : null;
      this._changed.emit();
    }
  }

  /** A view of a job; whoever asks disposes it. */
  openJob(id: string): JobView {
    return new JobView(id, this.api, this.events, this.jobs);
  }

  /** Submit the active notebook and show the job's first lines. */
  async submit(anyway = false): Promise<IJob | null> {
    const job = (await this._training?.submission.submit(anyway)) ?? null;
    if (job) {
      if (this._training?.submission.choice.result === 'open') {
        this._opens.add(job.id);
      }
      this.jobs.put(job);
      this._show(job.id);
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
      this._show(job.id);
    }
    return job;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._expanded?.dispose();
    this._running?.dispose();
    this._keeper.dispose();
    this._kernelLook.dispose();
    this._trainings.forEach(training => training.dispose());
    this.jobs.dispose();
    this.notebook.dispose();
    this.events.dispose();
    Signal.clearData(this);
  }

  private _show(id: string): void {
    this._submitted = id;
    this.expand(id);
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
      this._engines = engines;
      this._accelerators = accelerators;
      this._whatIfs = whatIfs;
      this._trainings.forEach(training => (training.whatIfs = whatIfs));
      this._inventory = inventory;
      void this._readOwnDevices();
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
    if (training?.placement) {
      const { placed } = training;
      if (this._matched?.placed !== placed) {
        this._matched = { placed, devices: inventory.devices };
      } else if (
        Date.now() - placed > REMATCH_TIME &&
        isMoved(this._matched.devices, inventory.devices)
      ) {
        void training.rematch();
      }
    }
    this._changed.emit();
  }

  private _onConnection(): void {
    const { connection } = this.events;
    if (connection === 'socket' && this._serverError) {
      void this.connect();
    }
    if (connection === 'socket' || connection === 'polling') {
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
      void this._readOwnDevices();
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
    if (this._looking) {
      this._training?.edited();
    }
  }

  /** A cell ran: it may have made a model. Asked once the kernel has come to rest. */
  private _onExecuted(): void {
    this._kernelLook.invoke().catch(() => undefined);
  }

  private _onTraining(): void {
    void this._readOwnDevices();
    this._keeper.invoke().catch(() => undefined);
    this._changed.emit();
  }

  /** Ask the chosen engine for its own devices, where it has any: once a choice and once a match. */
  private async _readOwnDevices(): Promise<void> {
    const training = this._training;
    const engine = training && this.engineOf(training);
    const asked = engine?.own_devices ? `${engine.name} ${training?.placed}` : '';
    if (!engine || !asked || asked === this._askedOwn) {
      this._askedOwn = asked;
      return;
    }
    this._askedOwn = asked;
    try {
      this._own.set(engine.name, await this.api.devices(engine.name));
      this._changed.emit();
    } catch {
      // The match and the submit say what is wrong with the engine.
    }
  }

  /** Keep a view of the job that comes first, so that its last lines and its curves are there. */
  private _onJobs(): void {
    const path = this._training?.source.path;
    const active = this.jobs.list.filter(
      ({ state }) => state === 'running' || state === 'preparing' || state === 'stopping'
    );
    const first = active.find(job => path && isOf(job, path)) ?? active[0];
    if (this._running?.id !== first?.id) {
      this._running?.dispose();
      this._running = first && this._looking ? this.openJob(first.id) : null;
      this._changed.emit();
    }
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
          ? this._follows && (training.isRecalled || training.stale)
          : this.autoEstimate && trains;
        if (wanted && training.source.trusted && !training.isEstimating) {
          void training.measure();
        }
      });
  }

  private readonly _kernelLook = new Debouncer(async () => {
    if (this._looking) {
      await this._training?.lookAtKernel();
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
  private _running: JobView | null = null;
  /** Jobs whose executed notebook is to be opened. */
  private readonly _opens = new Set<string>();
  private _inventory: IInventory | null = null;
  /** The devices of engines that have their own, by engine. */
  private readonly _own = new Map<string, IInventory>();
  private _askedOwn = '';
  private _accelerators: IAccelerator[] = [];
  private _engines: IEngineFeatures[] = [];
  private _whatIfs: IWhatIf[] = [];
  private _serverError: ApiError | null = null;
  private _otherVersion: string | null = null;
  private _connecting: Promise<void> | null = null;
  private _expanded: JobView | null = null;
  private _submitted = '';
  private _isReady = false;
  /** The devices as they were when the match that is shown was made. */
  private _matched: { placed: number; devices: readonly IDevice[] } | null = null;
  private _looking = 0;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** Whether a job is of a notebook; a job knows the file, a notebook its contents path. */
export function isOf({ spec }: IJob, path: string): boolean {
  return spec.notebook === path || spec.notebook.endsWith(`/${path}`);
}

/** Whether a device has much more or less room than it had. */
function isMoved(before: readonly IDevice[], now: readonly IDevice[]): boolean {
  return now.some(device => {
    const free = before.find(({ id }) => id === device.id)?.memory_free ?? null;
    return (
      free !== null &&
      device.memory_free !== null &&
      Math.abs(free - device.memory_free) > REMATCH_BYTES
    );
  });
}
