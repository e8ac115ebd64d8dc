/** What several tests need: lines of a log, a server made of a list, a bundle that translates nothing. */

import type { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';

import { Api } from '../../src/api';
import type { IJob, ILogLine, ILogPage, ISweep, ITrial } from '../../src/domain';
import type { INotebookSource } from '../../src/models/notebook/notebook';

/** A notebook that is trusted and never changes. */
export const source: INotebookSource = {
  path: 'a.ipynb',
  name: 'a.ipynb',
  trusted: true,
  body: () => ({ path: 'a.ipynb' }),
  fingerprint: () => 'x = 1',
  reveal: () => undefined,
  write: () => undefined
};

export const trans = nullTranslator.load('jupyter_paddle_gpu');

export function line(n: number, x = `line ${n}`, more: Partial<ILogLine> = {}): ILogLine {
  return { n, t: 1000 + n, s: 'stdout', x, ...more };
}

/** The log route over a list of lines, with a count of what was asked. */
export class LogServer {
  constructor(readonly lines: ILogLine[] = []) {}

  readonly asked: [number, number][] = [];
  ended = false;

  readonly fetch = (since: number, limit: number): Promise<ILogPage> => {
    this.asked.push([since, limit]);
    const from = since < 0 ? Math.max(0, this.lines.length + since) : since;
    const lines = this.lines.slice(from, from + limit);
    return Promise.resolve({
      lines,
      next: from + lines.length,
      total: this.lines.length,
      ended: this.ended
    });
  };
}

/** A job in a state, with what a test wants to be different. */
export function job(id: string, more: Partial<IJob> = {}): IJob {
  return {
    id,
    spec: {
      name: id,
      notebook: `/home/ada/${id}.ipynb`,
      output: '',
      folder: '/work',
      engine: 'local',
      kernel_name: 'python3',
      python: '',
      image: '',
      processes: 1,
      device_names: {},
      resources: {
        gpus: 0,
        device_ids: [],
        gpu_memory_bytes: null,
        share: null,
        memory_bytes: null,
        cpus: null,
        shm_bytes: null,
        seconds: null
      },
      sets: {},
      changes: [],
      environment: {},
      token: '',
      rerun_of: '',
      estimated_peak_bytes: null,
      estimated_allocated_bytes: null,
      estimated_reserved_bytes: null,
      estimated_low_bytes: null,
      estimated_high_bytes: null,
      estimated_device: '',
      estimated_paddle_version: '',
      estimated_terms: null,
      estimated_batch_size: null,
      estimated_largest_batch: null,
      estimated_precision: '',
      estimated_size: [],
      trainer: '',
      need: null,
      insisted: null,
      on_cpu: null,
      placed: null,
      would_stop: null,
      unanswered: [],
      limits: null,
      settings: { variables: [], code: '' },
      differs: [],
      differs_from: '',
      notify: [],
      plan: '',
      trial: null,
      priority: 0,
      options: {}
    },
    state: 'running',
    created: 1,
    updated: 1,
    started: 1,
    ended: null,
    reason: null,
    handle: {},
    device_ids: [],
    device_names: {},
    shares: [],
    progress: {
      cell: null,
      cells_done: 0,
      cells_total: 0,
      epoch: null,
      epochs: null,
      step: null,
      steps: null,
      metrics: {},
      sparkline: null,
      share: 0,
      seconds_left: null,
      event_files: [],
      final: null,
      warning: null
    },
    result: null,
    attempts: 1,
    not_before: null,
    force: false,
    server_id: '',
    owner: '',
    note: '',
    starred: false,
    notices: [],
    priority: 0,
    position: null,
    held: false,
    place: null,
    price: null,
    ...more
  };
}

/** A sweep of two trials, of which none has ended, with what a test wants to be different; `counts` say the states. */
export function sweep(id: string, more: Partial<ISweep> = {}): ISweep {
  const counts = more.counts ?? { running: 2 };
  const states = Object.entries(counts).flatMap(([state, count]) =>
    Array.from({ length: count }, () => state as ITrial['state'])
  );
  return {
    id,
    name: id,
    notebook: `/home/ada/${id}.ipynb`,
    created: 1,
    ended: null,
    search: 'grid',
    at_once: 1,
    wanted: states.length,
    dimensions: [
      {
        name: 'lr',
        text: '1, 2',
        values: [1, 2],
        low: 0,
        high: 0,
        log: false,
        what_if: false,
        role: 'learning_rate'
      }
    ],
    state: 'running',
    metric: 'loss',
    direction: 'min',
    metrics: ['loss'],
    best: null,
    counts,
    trials: states.map((state, index) => ({
      number: index + 1,
      values: { lr: index + 1 },
      state,
      job_id: `${id}${index + 1}`,
      why: null,
      value: 0.5,
      metrics: {},
      curve: [],
      curve_of: '',
      seconds: null,
      placed: null,
      device_ids: []
    })),
    owner: '',
    ...more
  };
}

/** The part of `Response` that is read. */
export function answer(status: number, body: string): Response {
  return {
    ok: status >= 200 && status < 300,
    status,
    text: () => Promise.resolve(body)
  } as Response;
}

type Settings = ServerConnection.ISettings;

/** An `Api` on a network that is a function. */
export function apiOn(
  network: (url: string, init: RequestInit) => Promise<Response>,
  socket?: Settings['WebSocket']
): Api {
  const settings = {
    baseUrl: 'http://localhost/base/',
    wsUrl: 'ws://localhost/base/',
    token: '',
    appendToken: false,
    init: {},
    Headers: Map,
    Request: class {
      constructor(
        readonly url: string,
        readonly init: RequestInit
      ) {
        this.headers = new Map(Object.entries(init.headers ?? {}));
      }

      readonly headers: Map<string, string>;
    },
    fetch: (request: { url: string; init: RequestInit }) => network(request.url, request.init),
    WebSocket: socket
  };
  return new Api({
    serverSettings: settings as unknown as Settings,
    language: () => 'zh_CN',
    trans
  });
}

/** Let everything that is ready to run, run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await Promise.resolve();
  }
}
