/**
 * Whatever comes in whatever order, the list of jobs ends as the server has it: a server that changes at random, a
 * socket that breaks, answers that arrive late.
 */

import { type IJob, isEnded, type JobState } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { Jobs } from '../../../src/models/jobs/jobs';
import { answer, apiOn, job, settle } from '../helpers';

/** Numbers from 0 to 1, the same for the same seed (Park and Miller's generator). */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const NEXT: Partial<Record<JobState, JobState[]>> = {
  queued: ['running', 'cancelled'],
  running: ['running', 'succeeded', 'failed']
};

/** A server's jobs, its socket (in order, but late) and its answers (late, in any order). */
class Server {
  constructor(private readonly _random: () => number) {}

  readonly jobs = new Map<string, IJob>();
  readonly late: (() => void)[] = [];
  socket: Socket | null = null;
  isDown = false;
  private _clock = 100;
  private _made = 0;

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this._random() * items.length)];
  }

  /** Something happens to some job; the socket is told where it wants to know. */
  change(): void {
    // Clocks are set back at times; a job's own time never is.
    this._clock += this._random() < 0.1 ? -5 : 1;
    const chance = this._random();
    if (chance < 0.3) {
      this._store(job(`job ${this._made++}`, { state: 'queued', updated: this._clock }));
      return;
    }
    const known = [...this.jobs.values()];
    const one = known.length ? this.pick(known) : undefined;
    const moves = one && NEXT[one.state];
    if (one && moves) {
      const updated = Math.max(this._clock, one.updated + 0.001);
      this._store({ ...one, state: this.pick(moves), updated });
    } else if (one && chance < 0.6) {
      this.jobs.delete(one.id);
      this.socket?.tell({ type: 'job_deleted', id: one.id });
    }
  }

  /** The answer to `GET jobs` is made now and arrives some time. */
  list(): Promise<Response> {
    if (this.isDown) {
      return Promise.reject(new TypeError('down'));
    }
    const body = JSON.stringify({ jobs: [...this.jobs.values()] });
    return new Promise(done => this.late.push(() => done(answer(200, body))));
  }

  private _store(changed: IJob): void {
    this.jobs.set(changed.id, changed);
    this.socket?.tell({ type: 'job', job: changed });
  }
}

let server: Server;

class Socket {
  constructor() {
    if (!server.isDown) {
      server.socket = this;
    }
    server.late.push(() =>
      server.isDown || server.socket !== this ? this.end() : this._open()
    );
  }

  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  private readonly _queue: string[] = [];
  private _isWatching = false;

  /** The server reads the subscription some time, and only then listens for changes and lists. */
  send(text: string): void {
    if ((JSON.parse(text) as { jobs: boolean }).jobs) {
      server.late.push(() => {
        if (!this._isWatching && this.readyState === 1) {
          this._isWatching = true;
          this.tell({ type: 'jobs', jobs: [...server.jobs.values()] });
        }
      });
    }
  }

  tell(event: object): void {
    if (this._isWatching) {
      this._queue.push(JSON.stringify(event));
      server.late.push(() => this.deliver());
    }
  }

  /** The oldest message arrives. */
  deliver(): void {
    const data = this._queue.shift();
    if (data && this.readyState === 1) {
      this.onmessage?.({ data });
    }
  }

  close(): void {
    this.end();
  }

  end(): void {
    if (this.readyState !== 3) {
      this.readyState = 3;
      if (server.socket === this) {
        server.socket = null;
      }
      this.onclose?.();
    }
  }

  private _open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
}

/** Let one of the late things arrive; sockets keep their own order by their queues. */
function arrive(chance: () => number): void {
  const [thing] = server.late.splice(Math.floor(chance() * server.late.length), 1);
  thing?.();
}

const states = (jobs: Iterable<IJob>) =>
  [...jobs].map(({ id, state }) => `${id} ${state}`).sort();

test.each(Array.from({ length: 120 }, (_, seed) => seed + 1))(
  'the list ends as the server has it (seed %i)',
  async seed => {
    jest.useFakeTimers();
    const chance = random(seed * 7_919);
    // From a socket that holds to one that breaks every few events.
    const breaks = [0, 0.005, 0.02, 0.05][seed % 4];
    server = new Server(chance);
    const api = apiOn(() => server.list(), Socket as unknown as typeof WebSocket);
    for (let made = 0; made < 12; made++) {
      server.change();
    }
    const events = new EventStream(api);
    const jobs = new Jobs(api, events);
    const ends: string[] = [];
    jobs.ended.connect((_, { id }) => ends.push(id));
    events.watch('jobs');
    for (let step = 0; step < 40; step++) {
      const what = chance();
      if (what < 0.4) {
        server.change();
      } else if (what < 0.85) {
        arrive(chance);
      } else if (what < 0.85 + breaks) {
        server.socket?.end();
      } else if (what < 0.85 + 2 * breaks) {
        server.isDown = !server.isDown;
        server.socket?.end();
      } else if (what < 0.85 + 2 * breaks + 0.03) {
        jobs.refresh().catch(() => undefined);
      } else {
        await jest.advanceTimersByTimeAsync(chance() * 1_000);
      }
      await settle();
    }
    // The world stands still: within a minute and a half everything arrives.
    server.isDown = false;
    for (let second = 0; second < 90; second += 5) {
      while (server.late.length) {
        arrive(chance);
        await settle();
      }
      await jest.advanceTimersByTimeAsync(5_000);
      server.socket?.tell({ type: 'alive' });
    }
    expect(events.connection).toBe('socket');
    expect(states(jobs.list)).toEqual(states(server.jobs.values()));
    // Each end is announced once at most, and none that was not one.
    expect(new Set(ends).size).toBe(ends.length);
    expect(jobs.list.filter(({ id, state }) => ends.includes(id) && !isEnded(state))).toEqual(
      []
    );
    jobs.dispose();
    events.dispose();
    jest.useRealTimers();
  }
);
