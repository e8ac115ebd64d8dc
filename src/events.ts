/**
 * Changes from the server as they come: one WebSocket for everything that is watched, and polling where sockets are
 * closed. A log goes on at the reader's own cursor after each break, so that no line is lost and none comes twice.
 */

import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

import { answered, type Api, isRefusal, toldBy } from './api';
import type { IInventory, IJob, ILogLine, IMessage } from './domain';

/** How changes reach us now; `refused`: the server answers, but wants a login. */
export type Connection = 'idle' | 'connecting' | 'socket' | 'polling' | 'offline' | 'refused';

/** All jobs as the server knew them at some moment after `asked`, a number of `EventStream.order`. */
export interface IJobList {
  jobs: IJob[];
  asked: number;
}

/** Lines of one job's log, and where the next ones begin. */
export interface ILogChunk {
  id: string;
  lines: ILogLine[];
  next: number;
  ended: boolean;
}

/** A message of the server; others than these are ignored. */
type ServerEvent =
  | { type: 'devices'; inventory: IInventory }
  | { type: 'jobs'; jobs: IJob[] }
  | { type: 'job'; job: IJob }
  | { type: 'job_deleted'; id: string }
  | ({ type: 'log' } & ILogChunk);

/** Milliseconds before the first new attempt to open a socket; doubled after each failure. */
const RECONNECT_FIRST = 1_000;
const RECONNECT_LONGEST = 60_000;
/** Milliseconds between two questions where there is no socket. */
const POLL_INTERVAL = 2_000;
/** Milliseconds to which polling backs off while the server does not answer. */
const POLL_LONGEST = 15_000;
/** Milliseconds without a word after which a socket counts as dead; the server says something every 20 seconds. */
export const SILENCE_LONGEST = 60_000;
/** Milliseconds between two looks at how long a socket has been silent. */
const SILENCE_LOOK = 10_000;
/** Lines asked for at a time, and pages taken in one round of polling. */
const POLL_LINES = 5_000;
const POLL_PAGES = 4;

export class EventStream implements IDisposable {
  constructor(private readonly _api: Api) {
    this._poll = new Poll<void, Error>({
      name: 'jupyter-paddle-gpu:events',
      auto: false,
      factory: () => this._ask(),
      frequency: { interval: POLL_INTERVAL, backoff: 1.5, max: POLL_LONGEST },
      standby: 'when-hidden'
    });
    document.addEventListener('visibilitychange', this._onVisibility);
    window.addEventListener('online', this._onVisibility);
  }

  get connection(): Connection {
    return this._connection;
  }

  /** What our half of the server says is wrong while nothing comes; null where nobody answers. */
  get problem(): IMessage | null {
    return this._problem;
  }

  get connectionChanged(): ISignal<this, Connection> {
    return this._connectionChanged;
  }

  /** A sample of all devices. */
  get inventory(): ISignal<this, IInventory> {
    return this._inventory;
  }

  /** One job as it is now. */
  get jobChanged(): ISignal<this, IJob> {
    return this._jobChanged;
  }

  /** All jobs: after each connection and in each round of polling. */
  get jobsListed(): ISignal<this, IJobList> {
    return this._jobsListed;
  }

  /** A number larger than all before: tells what was asked before what was heard. */
  order(): number {
    return ++this._order;
  }

  get jobDeleted(): ISignal<this, string> {
    return this._jobDeleted;
  }

  get logReceived(): ISignal<this, ILogChunk> {
    return this._logReceived;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Ask for device samples or job changes until the answer is disposed. */
  watch(what: 'devices' | 'jobs'): IDisposable {
    this._watched[what]++;
    this._plan();
    return new DisposableDelegate(() => {
      this._watched[what]--;
      this._plan();
    });
  }

  /** Ask for a log's lines from `cursor()` on, also after a break. */
  watchLog(id: string, cursor: () => number): IDisposable {
    const entry = { id, cursor };
    this._logs.add(entry);
    this._plan();
    return new DisposableDelegate(() => {
      this._logs.delete(entry);
      this._plan();
    });
  }

  /** Try again at once, because a person wants it. */
  retry(): void {
    this._failures = 0;
    this._connect();
    if (this._connection !== 'socket') {
      void this._poll.refresh();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this._onVisibility);
    window.removeEventListener('online', this._onVisibility);
    window.clearTimeout(this._timer);
    this._poll.dispose();
    this._close();
    Signal.clearData(this);
  }

  /** Settle what is wanted once per turn, however many watchers come and go in it. */
  private _plan(): void {
    if (this._planned || this._isDisposed) {
      return;
    }
    this._planned = true;
    void Promise.resolve().then(() => {
      this._planned = false;
      if (!this._isDisposed) {
        this._settle();
      }
    });
  }

  private _settle(): void {
    if (!this._isWanted) {
      this._close();
      window.clearTimeout(this._timer);
      this._timer = 0;
      void this._poll.stop();
      this._setConnection('idle');
    } else if (this._socket?.readyState === WebSocket.OPEN) {
      this._subscribe();
    } else if (!this._socket && !this._timer) {
      this._connect();
    }
  }

  private _connect(): void {
    window.clearTimeout(this._timer);
    this._timer = 0;
    if (this._socket || this._isDisposed) {
      return;
    }
    if (this._connection === 'idle') {
      this._setConnection('connecting');
    }
    let socket: WebSocket;
    try {
      socket = new this._api.serverSettings.WebSocket(this._api.eventsUrl());
    } catch {
      this._lost();
      return;
    }
    this._socket = socket;
    this._heard = Date.now();
    this._jobsAsked = 0;
    this._watchdog = window.setInterval(() => this._listen(), SILENCE_LOOK);
    socket.onopen = () => {
      if (this._socket === socket) {
        this._setConnection('socket');
        void this._poll.stop();
        this._subscribe();
      }
    };
    socket.onmessage = message => {
      if (this._socket === socket) {
        this._failures = 0;
        this._heard = Date.now();
        this._take(message.data as string);
      }
    };
    socket.onclose = () => {
      if (this._socket === socket) {
        this._close();
        this._lost();
      }
    };
  }

  /** Give a socket up whose other end has gone without a word, as after a sleep of the machine. */
  private _listen(): void {
    if (this._socket && Date.now() - this._heard > SILENCE_LONGEST) {
      this._close();
      this._lost();
    }
  }

  /** There is no socket: poll, and try for a socket again later. */
  private _lost(): void {
    if (this._isDisposed) {
      return;
    }
    const wait = Math.min(RECONNECT_FIRST * 2 ** this._failures++, RECONNECT_LONGEST);
    this._timer = window.setTimeout(() => this._connect(), wait * (0.75 + Math.random() / 2));
    if (this._connection === 'socket' || this._connection === 'connecting') {
      this._setConnection('polling');
      void this._poll.start();
      void this._poll.refresh();
    }
  }

  private _subscribe(): void {
    // A hidden page shows nothing; job changes are still told because their ends are announced.
    const hidden = document.hidden;
    const logs: Record<string, number> = {};
    if (!hidden) {
      for (const { id, cursor } of this._logs) {
        logs[id] = Math.min(logs[id] ?? Infinity, cursor());
      }
    }
    const jobs = this._watched.jobs > 0;
    // Once jobs are wanted, the server sends all of them and then each change: none can fall between.
    this._jobsAsked = jobs ? this._jobsAsked || this.order() : 0;
    const devices = !hidden && this._watched.devices > 0;
    this._socket?.send(JSON.stringify({ devices, jobs, logs }));
  }

  private _take(data: string): void {
    let event: ServerEvent;
    try {
      event = JSON.parse(data) as ServerEvent;
    } catch {
      return;
    }
    switch (event.type) {
      case 'devices':
        this._inventory.emit(event.inventory);
        break;
      case 'jobs':
        this._jobsListed.emit({ jobs: event.jobs, asked: this._jobsAsked });
        break;
      case 'job':
        this._jobChanged.emit(event.job);
        break;
      case 'job_deleted':
        this._jobDeleted.emit(event.id);
        break;
      case 'log':
        this._logReceived.emit(event);
        break;
    }
  }

  /** One round of polling. */
  private async _ask(): Promise<void> {
    const asked = this.order();
    try {
      if (this._watched.jobs) {
        const jobs = await answered(this._api.jobs());
        if (jobs) {
          this._jobsListed.emit({ jobs, asked });
        }
      }
      for (const entry of [...this._logs]) {
        await this._askLog(entry);
      }
      if (this._watched.devices) {
        const inventory = await answered(this._api.devices());
        if (inventory) {
          this._inventory.emit(inventory);
        }
      }
    } catch (reason) {
      if (!this._isDisposed && this._isPolling) {
        this._problem = toldBy(reason);
        this._setConnection(isRefusal(reason) ? 'refused' : 'offline');
      }
      throw reason;
    }
    if (!this._isDisposed && this._isPolling && this._connection !== 'polling') {
      this._setConnection('polling');
      // The server is back: no need to wait for the socket's next turn.
      this._failures = 0;
      this._connect();
    }
  }

  private async _askLog({ id, cursor }: { id: string; cursor: () => number }): Promise<void> {
    for (let page = 0; page < POLL_PAGES; page++) {
      const since = cursor();
      const answer = await answered(this._api.log(id, since, POLL_LINES));
      if (answer) {
        this._logReceived.emit({ id, ...answer });
      }
      if (!answer || answer.next >= answer.total || cursor() <= since) {
        break;
      }
    }
  }

  private get _isWanted(): boolean {
    return this._watched.devices + this._watched.jobs + this._logs.size > 0;
  }

  private get _isPolling(): boolean {
    return ['polling', 'offline', 'refused'].includes(this._connection);
  }

  private _close(): void {
    const socket = this._socket;
    this._socket = null;
    window.clearInterval(this._watchdog);
    socket?.close();
  }

  private _setConnection(connection: Connection): void {
    if (this._connection !== connection) {
      this._connection = connection;
      this._connectionChanged.emit(connection);
    }
  }

  private readonly _onVisibility = (): void => {
    this._listen();
    if (this._socket?.readyState === WebSocket.OPEN) {
      this._subscribe();
    } else if (!document.hidden && this._isWanted) {
      this.retry();
    }
  };

  private readonly _poll: Poll<void, Error>;
  private readonly _watched = { devices: 0, jobs: 0 };
  private readonly _logs = new Set<{ id: string; cursor: () => number }>();
  private _socket: WebSocket | null = null;
  private _timer = 0;
  private _watchdog = 0;
  private _failures = 0;
  private _heard = 0;
  private _order = 0;
  /** The order in which this socket was asked for jobs; 0 where it was not. */
  private _jobsAsked = 0;
  private _planned = false;
  private _isDisposed = false;
  private _connection: Connection = 'idle';
  private _problem: IMessage | null = null;
  private readonly _connectionChanged = new Signal<this, Connection>(this);
  private readonly _inventory = new Signal<this, IInventory>(this);
  private readonly _jobChanged = new Signal<this, IJob>(this);
  private readonly _jobsListed = new Signal<this, IJobList>(this);
  private readonly _jobDeleted = new Signal<this, string>(this);
  private readonly _logReceived = new Signal<this, ILogChunk>(this);
}
