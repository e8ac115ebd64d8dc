/** The list of jobs, kept right by the server's events. */

import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { type Api, type ApiError, type IPublished, lasting } from '../../api';
import { isEnded, type IJob, type IRerun } from '../../domain';
import type { EventStream, IJobList } from '../../events';
import { moment } from '../../format';

/** Milliseconds in which a deletion can be taken back: time to read the words and to find the button by keyboard. */
export const UNDO_TIME = 10_000;

export class Jobs implements IDisposable {
  constructor(
    private readonly _api: Api,
    events: EventStream
  ) {
    this._events = events;
    events.jobChanged.connect(this._onJob, this);
    events.jobsListed.connect(this._onList, this);
    events.jobDeleted.connect(this._onDeleted, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with a job that ended while we knew it. */
  get ended(): ISignal<this, IJob> {
    return this._ended;
  }

  /** The newest first. */
  get list(): IJob[] {
    return [...this._jobs.values()].sort((a, b) => b.created - a.created);
  }

  /** False until the list was heard once. */
  get isLoaded(): boolean {
    return this._isLoaded;
  }

  /** Why the last action failed, and of which job. */
  get failure(): { id: string; error: ApiError } | null {
    return this._failure;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get(id: string): IJob | undefined {
    return this._jobs.get(id);
  }

  /** The runs of a job's name that were submitted in the same minute, in their order: itself, where it is the only one. */
  twins(job: IJob): readonly IJob[] {
    if (!this._minutes) {
      this._minutes = new Map();
      this._moments.clear();
      // A trial is told apart by its values, on its sweep's page.
      for (const one of this.list.reverse().filter(({ spec }) => spec.trial === null)) {
        const key = minuteOf(one);
        this._minutes.set(key, [...(this._minutes.get(key) ?? []), one]);
      }
    }
    return (job.spec.trial === null && this._minutes.get(minuteOf(job))) || [job];
  }

  /** When a job was submitted, as exactly as tells it from others of its name: `06:22`, `06:22:35`, `06:22:35 (2)`. */
  moment(job: IJob, language: string): string {
    const twins = this.twins(job);
    let said = this._moments.get(job.id);
    if (!said) {
      // Asked for each of five hundred rows whenever the page is drawn.
      said = momentAmong(twins, job, language);
      this._moments.set(job.id, said);
    }
    return said;
  }

  /** Ids of the jobs whose deletion waits for its time to be taken back. */
  get leaving(): readonly string[] {
    return [...this._leaving.keys()];
  }

  /** Whether the job's deletion waits for its time to be taken back. */
  isLeaving(id: string): boolean {
    return this._leaving.has(id);
  }

  async refresh(): Promise<void> {
    const asked = this._events.order();
    this._onList(this._events, { jobs: await this._api.jobs(), asked });
  }

  /** Take a job that the server answered with. */
  put(job: IJob): void {
    const known = this._jobs.get(job.id);
    if (!(known && isOlder(job, known))) {
      this._set(job);
      this._changed.emit();
    }
  }

  async cancel(id: string, force = false): Promise<void> {
    await this._act(id, async () => this.put(await this._api.cancel(id, force)));
  }

  /** Keep a waiting job from starting, or let it wait again. */
  async hold(id: string, held: boolean): Promise<void> {
    await this._act(id, async () => this.put(await this._api.hold(id, held)));
  }

  /** Put a waiting job before another one, or (null) behind all. */
  async move(id: string, before: string | null): Promise<void> {
    await this._act(id, async () => this.put(await this._api.move(id, before)));
  }

  /** One's own waiting jobs in their order. */
  get waiting(): IJob[] {
    const last = Number.MAX_SAFE_INTEGER;
    return this.list
      .filter(({ state }) => state === 'queued')
      .sort(
        (one, other) =>
          other.priority - one.priority ||
          (one.position ?? last) - (other.position ?? last) ||
          one.created - other.created
      );
  }

  /** Run the same again; answers the new job. */
  async rerun(id: string): Promise<IJob | null> {
    let job: IJob | null = null;
    await this._act(id, async () => {
      job = await this.rerunWith(id, {});
    });
    return job;
  }

  /** Run a job again with other values; answers the new job. Throws `ApiError` where that is refused. */
  async rerunWith(id: string, wanted: IRerun): Promise<IJob> {
    const job = await this._api.rerun(id, wanted);
    this.put(job);
    return job;
  }

  /** Keep a note or a star. */
  async annotate(id: string, kept: { note?: string; starred?: boolean }): Promise<void> {
    await this._act(id, async () => this.put(await this._api.annotate(id, kept)));
  }

  /** Publish the executed notebook; answers where it is, and its source. */
  async publish(id: string): Promise<IPublished | null> {
    let published: IPublished | null = null;
    await this._act(id, async () => {
      published = await this._api.publish(id);
    });
    return published;
  }

  /** A job, asked for where the list does not know it (yet). */
  async find(id: string): Promise<IJob | undefined> {
    if (!this.get(id)) {
      await this._api.job(id).then(
        job => this.put(job),
        () => undefined
      );
    }
    return this.get(id);
  }

  /** Start a viewer of the job's curves; answers its address. */
  async openViewer(id: string, viewer: string): Promise<string | null> {
    let url: string | null = null;
    await this._act(id, async () => {
      url = await this._api.openViewer(id, viewer);
    });
    return url;
  }

  /** Delete after a while in which `keep` takes it back. */
  delete(id: string): void {
    if (!this._leaving.has(id)) {
      this._leaving.set(
        id,
        window.setTimeout(() => void this._delete(id), UNDO_TIME)
      );
      this._changed.emit();
    }
  }

  keep(id: string): void {
    window.clearTimeout(this._leaving.get(id));
    this._leaving.delete(id);
    this._changed.emit();
  }

  dismissFailure(): void {
    this._failure = null;
    this._changed.emit();
  }

  /** The server is back: what failed only for want of it can be done now. */
  recover(): void {
    if (this._failure && !lasting(this._failure.error)) {
      this.dismissFailure();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._leaving.forEach(timer => window.clearTimeout(timer));
    Signal.clearData(this);
  }

  private async _delete(id: string): Promise<void> {
    await this._act(id, async () => {
      await this._api.delete(id);
      this._remove(id);
    });
    this._leaving.delete(id);
    this._changed.emit();
  }

  private async _act(id: string, action: () => Promise<void>): Promise<void> {
    this._failure = null;
    try {
      await action();
    } catch (error) {
      this._failure = { id, error: error as ApiError };
    }
    this._changed.emit();
  }

  private _onJob(_: EventStream, job: IJob): void {
    this.put(job);
  }

  /** A list is right about all that was heard before it was asked for; what was heard since goes by its own time. */
  private _onList(_: EventStream, { jobs, asked }: IJobList): void {
    const ids = new Set(jobs.map(job => job.id));
    const isSettled = (id: string) => (this._heard.get(id) ?? 0) < asked;
    for (const id of [...this._jobs.keys()]) {
      if (!ids.has(id) && isSettled(id)) {
        this._forget(id);
      }
    }
    for (const job of jobs) {
      const known = this._jobs.get(job.id);
      if (!known || isSettled(job.id) || !isOlder(job, known)) {
        this._set(job);
      }
    }
    this._isLoaded = true;
    this._changed.emit();
  }

  private _onDeleted(_: EventStream, id: string): void {
    this._remove(id);
    this._changed.emit();
  }

  private _set(job: IJob): void {
    // Ids are given once: a job that was deleted does not come back with late news.
    if (this._gone.has(job.id)) {
      return;
    }
    const known = this._jobs.get(job.id);
    this._jobs.set(job.id, job);
    this._minutes = known ? this._minutes : null;
    this._heard.set(job.id, this._events.order());
    if (known && !isEnded(known.state) && isEnded(job.state)) {
      this._ended.emit(job);
    }
  }

  private _remove(id: string): void {
    this._forget(id);
    this._gone.add(id);
  }

  private _forget(id: string): void {
    this._jobs.delete(id);
    this._minutes = null;
  }

  private readonly _events: EventStream;
  private readonly _jobs = new Map<string, IJob>();
  /** Id -> the stream's order when we last heard of the job. */
  private readonly _heard = new Map<string, number>();
  private readonly _gone = new Set<string>();
  /** Jobs by their name and the minute in which they were submitted; null after one came or went. */
  private _minutes: Map<string, IJob[]> | null = null;
  private readonly _moments = new Map<string, string>();
  private readonly _leaving = new Map<string, number>();
  private _failure: { id: string; error: ApiError } | null = null;
  private _isLoaded = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _ended = new Signal<this, IJob>(this);
}

/** Whether news were overtaken by what is known: an end is final, whatever the clocks say. */
function isOlder(news: IJob, known: IJob): boolean {
  const ended = isEnded(known.state);
  return ended === isEnded(news.state) ? known.updated > news.updated : ended;
}

function minuteOf({ spec, created }: IJob): string {
  return `${Math.floor(created / 60)} ${spec.name}`;
}

/** A time among those of the jobs that have the same minute. */
function momentAmong(twins: readonly IJob[], job: IJob, language: string): string {
  const same = twins.filter(one => Math.floor(one.created) === Math.floor(job.created));
  const time = moment(job.created, language, twins.length > 1);
  const place = same.findIndex(({ id }) => id === job.id) + 1;
  return same.length < 2 ? time : `${time} (${place})`;
}
