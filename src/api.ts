/** Every request that the front end makes, in one place. */

import { URLExt } from '@jupyterlab/coreutils';
import type { PartialJSONObject } from '@lumino/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  IAccelerator,
  IChanges,
  IComparison,
  IEngineFeatures,
  IEstimateRequest,
  IFigure,
  IInventory,
  IJob,
  IJobMetrics,
  IJobStatistics,
  ILogPage,
  IMatched,
  IMessage,
  INotebookFacts,
  IPreflight,
  IQueueView,
  IReceiver,
  IRerun,
  ISubmission,
  IWhatIf
} from './domain';

const NAMESPACE = 'paddle-gpu/api';

/** A refusal or a failure: what happened and the next step, ready to be shown. */
/** Codes of what is no answer of our half of the server. */
const OTHERS = ['unreachable', 'server_missing', 'unexpected_answer'];

export class ApiError extends Error implements IMessage {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
    readonly status: number
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Contents paths of an executed notebook and, where the server shows it, of its source. */
export interface IPublished {
  path: string;
  source: string | null;
}

/** A notebook or a script by contents path, with its unsaved content; of a script that is its text. */
export interface INotebookBody {
  path: string;
  content?: PartialJSONObject | string;
}

export class Api {
  constructor(private readonly _options: Api.IOptions) {}

  get serverSettings(): ServerConnection.ISettings {
    return this._options.serverSettings;
  }

  /** The front end's own words. */
  get trans(): TranslationBundle {
    return this._options.trans;
  }

  /** The language for sentences that the server writes, as a language tag. */
  get language(): string {
    return this._options.language().replace('_', '-') || 'en';
  }

  version(): Promise<{ version: string }> {
    return this._get('version');
  }

  /** This machine's devices, or those that the jobs of an engine can have. */
  devices(engine = ''): Promise<IInventory> {
    return this._get(engine ? `devices?engine=${encodeURIComponent(engine)}` : 'devices');
  }

  accelerators(): Promise<IAccelerator[]> {
    return this._get('accelerators');
  }

  engines(): Promise<IEngineFeatures[]> {
    return this._get('engines');
  }

  /** Who can be told of a job's end. */
  receivers(): Promise<IReceiver[]> {
    return this._get('receivers');
  }

  /** What can be asked of an estimate, as fields of a form. */
  whatIfs(): Promise<IWhatIf[]> {
    return this._get('what-ifs');
  }

  /** Static reading: nothing is executed. */
  inspect(notebook: INotebookBody): Promise<INotebookFacts> {
    return this._post('inspections', notebook);
  }

  /** Reading, estimate and the verdict on each device. */
  place(
    notebook: INotebookBody,
    request: IEstimateRequest,
    choice: {
      engine?: string;
      gpus?: number;
      device_ids?: string[];
      share?: number;
      image?: string;
      trace?: string;
    },
    /** Whoever does not wait any more ends what the server does for it. */
    signal?: AbortSignal
  ): Promise<IMatched> {
    return this._post('placements', { ...notebook, request, ...choice }, signal);
  }

  /** All that wait, other users' jobs among them. */
  queue(): Promise<IQueueView> {
    return this._get('queue');
  }

  /** Container images, the best first, each with its reasons, or the names of all that may be given here. */
  images<T>(path: 'images' | 'images/names'): Promise<T[]> {
    return this._get(path);
  }

  async jobs(): Promise<IJob[]> {
    return (await this._get<{ jobs: IJob[] }>('jobs')).jobs;
  }

  job(id: string): Promise<IJob> {
    return this._get(`jobs/${encodeURIComponent(id)}`);
  }

  /** What a submit of this would lead to now. */
  preflight(notebook: INotebookBody, submission: ISubmission): Promise<IPreflight> {
    return this._post('preflights', { ...notebook, ...submission });
  }

  /** What a job of this submit has otherwise than the notebook; nothing runs. */
  changes(notebook: INotebookBody, submission: ISubmission): Promise<IChanges> {
    return this._post('changes', { ...notebook, ...submission });
  }

  submit(notebook: INotebookBody, submission: ISubmission): Promise<IJob> {
    return this._post('jobs', { ...notebook, ...submission });
  }

  cancel(id: string, force = false): Promise<IJob> {
    return this._post(`jobs/${encodeURIComponent(id)}/cancel`, { force });
  }

  /** Keep a waiting job from starting, or let it wait again; answers the job. */
  hold(id: string, held: boolean): Promise<IJob> {
    return this._post(`jobs/${encodeURIComponent(id)}/hold`, { held });
  }

  /** Put a waiting job before another one of one's own (null: behind all); answers the job. */
  move(id: string, before: string | null): Promise<IJob> {
    return this._post(`jobs/${encodeURIComponent(id)}/move`, { before });
  }

  /** Run a job again: from its checkpoints on, or with other values as a run of its own. */
  rerun(id: string, wanted: IRerun = {}): Promise<IJob> {
    return this._post(`jobs/${encodeURIComponent(id)}/rerun`, wanted);
  }

  /** Keep a note or a star. */
  annotate(id: string, kept: { note?: string; starred?: boolean }): Promise<IJob> {
    return this._request(`jobs/${encodeURIComponent(id)}`, {
      method: 'PATCH',
      body: JSON.stringify(kept)
    });
  }

  /** What the training says of itself over time, so far. */
  metrics(id: string): Promise<IJobMetrics> {
    return this._get(`jobs/${encodeURIComponent(id)}/metrics`);
  }

  /** The pictures that a job's notebook has drawn so far. */
  async figures(id: string): Promise<IFigure[]> {
    const path = `jobs/${encodeURIComponent(id)}/figures`;
    return (await this._get<{ figures: IFigure[] }>(path)).figures;
  }

  /** What a second job has otherwise than the first, code included. */
  compare(id: string, other: string): Promise<IComparison> {
    const [one, two] = [id, other].map(encodeURIComponent);
    return this._get(`jobs/${one}/comparison/${two}`);
  }

  /** Puts the executed notebook, as far as it is, beside its source. */
  publish(id: string): Promise<IPublished> {
    return this._post(`jobs/${encodeURIComponent(id)}/notebook`, {});
  }

  /** The notebook as executed so far. */
  executed(id: string): Promise<object> {
    return this._get(`jobs/${encodeURIComponent(id)}/notebook/file`);
  }

  /** Contents path of a job's source; null where the server does not show it. */
  async source(id: string): Promise<string | null> {
    const path = `jobs/${encodeURIComponent(id)}/notebook`;
    return (await this._get<{ source: string | null }>(path)).source;
  }

  /** Start the viewer of the curves that a job keeps in files of its own; answers where it is. */
  async openViewer(id: string, viewer: string): Promise<string> {
    const place = `jobs/${encodeURIComponent(id)}/viewers/${encodeURIComponent(viewer)}`;
    const { path } = await this._post<{ path: string }>(place, {});
    return URLExt.join(this.serverSettings.baseUrl, path);
  }

  async delete(id: string): Promise<void> {
    await this._request(`jobs/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  /** What a job used over time, so far. */
  statistics(id: string): Promise<IJobStatistics> {
    return this._get(`jobs/${encodeURIComponent(id)}/statistics`);
  }

  /** Lines from number `since` on. */
  log(id: string, since: number, limit: number, rank = 0): Promise<ILogPage> {
    const query = `since=${since}&limit=${limit}${rank ? `&rank=${rank}` : ''}`;
    return this._get(`jobs/${encodeURIComponent(id)}/log?${query}`);
  }

  /** Where something can be downloaded. */
  url(path: string): string {
    return this._url(path);
  }

  /** Where a job can be downloaded: on one page, with all that it left, its metrics as a table or as they are drawn. */
  exportUrl(id: string, what: 'report' | 'archive' | 'metrics/file' | 'metrics'): string {
    const language = what === 'report' ? `?language=${encodeURIComponent(this.language)}` : '';
    return this._url(`jobs/${encodeURIComponent(id)}/${what}`) + language;
  }

  /** Where the whole log of a process can be downloaded as text. */
  logFileUrl(id: string, rank = 0): string {
    return this._url(`jobs/${encodeURIComponent(id)}/log/file`) + (rank ? `?rank=${rank}` : '');
  }

  /** Address of the socket that sends device samples, job changes and log lines. */
  eventsUrl(): string {
    const { wsUrl, token, appendToken } = this.serverSettings;
    const query = new URLSearchParams({ language: this.language });
    if (appendToken && token) {
      query.set('token', token);
    }
    return `${URLExt.join(wsUrl, NAMESPACE, 'events')}?${query.toString()}`;
  }

  private _url(path: string): string {
    return URLExt.join(this.serverSettings.baseUrl, NAMESPACE, path);
  }

  /** Ask for something that a room of its own knows (`models/plans`). Throws `ApiError`. */
  ask<T>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
    return this._request<T>(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    });
  }

  private _get<T>(path: string): Promise<T> {
    return this._request<T>(path, { method: 'GET' });
  }

  private _post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
    return this._request<T>(path, { method: 'POST', body: JSON.stringify(body), signal });
  }

  private async _request<T>(path: string, init: RequestInit): Promise<T> {
    const trans = this._options.trans;
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(
        this._url(path),
        { ...init, headers: { 'Accept-Language': this.language } },
        this.serverSettings
      );
    } catch {
      throw new ApiError(
        'unreachable',
        trans.__('The Jupyter server cannot be reached.'),
        trans.__('Jobs go on without it. Start the server again or check the network.'),
        0
      );
    }
    const text = await response.text();
    const answer = parse(text);
    if (response.ok && answer !== undefined) {
      return answer as T;
    }
    throw this._refusal(response, answer);
  }

  private _refusal(response: Response, answer: unknown): ApiError {
    const trans = this._options.trans;
    if (isMessage(answer)) {
      return new ApiError(answer.code, answer.message, answer.hint, response.status);
    }
    if (response.status === 404) {
      return new ApiError(
        'server_missing',
        trans.__('The server half of Paddle GPU is not running.'),
        trans.__(
          'Run “jupyter server extension enable jupyter_paddle_gpu” and start the server again.'
        ),
        404
      );
    }
    return new ApiError(
      'unexpected_answer',
      trans.__('The server answered with an error (%1).', response.status),
      trans.__('The log of the Jupyter server tells more.'),
      response.status
    );
  }
}

export namespace Api {
  export interface IOptions {
    serverSettings: ServerConnection.ISettings;
    /** The language of the interface, `zh_CN` or `zh-CN`. */
    language: () => string;
    trans: TranslationBundle;
  }
}

function parse(text: string): unknown {
  if (!text) {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is IMessage {
  const message = value as Partial<IMessage> | null;
  return (
    typeof message === 'object' &&
    typeof message?.code === 'string' &&
    typeof message.message === 'string' &&
    message.code !== ''
  );
}

/** The answer; null where the server refused this one question, which says nothing of the others. */
export async function answered<T>(question: Promise<T>): Promise<T | null> {
  try {
    return await question;
  } catch (reason) {
    if (isRefusal(reason) || isAway(reason)) {
      throw reason;
    }
    return null;
  }
}

/** The error where it says something of what was asked; null where there was only nobody to ask. */
export function lasting(error: ApiError | null): ApiError | null {
  return error && !isAway(error) ? error : null;
}

/** Whether the server wants a login. */
export function isRefusal(reason: unknown): boolean {
  return reason instanceof ApiError && (reason.status === 401 || reason.status === 403);
}

/** What our half of the server has said itself, as that a policy file is wrong; null where others spoke, or nobody. */
export function toldBy(reason: unknown): ApiError | null {
  const isOurs = reason instanceof ApiError && !OTHERS.includes(reason.code);
  return isOurs ? reason : null;
}

/** Whether nobody answered, or a proxy in the server's place. */
function isAway(reason: unknown): boolean {
  return !(reason instanceof ApiError) || [0, 502, 503, 504].includes(reason.status);
}
