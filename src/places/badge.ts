/** A number on the sidebar's icon: jobs that failed where nobody saw it since the panel was looked at, also over a reload. */

import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { endOfJob } from '../announcements';
import type { IJob } from '../domain';
import type { EventStream } from '../events';
import type { Jobs } from '../models/jobs/jobs';
import { FAILURES, type IFailuresKept } from '../models/notebook/kept';
import type { PanelWidget } from '../panelWidget';
import { isInView } from './inView';

export class FailureBadge implements IDisposable {
  constructor(
    private readonly _panel: PanelWidget,
    private readonly _jobs: Jobs,
    private readonly _events: Pick<EventStream, 'watch'>,
    private readonly _trans: TranslationBundle,
    private readonly _state: Pick<IStateDB, 'fetch' | 'save'> | null
  ) {
    this._caption = _panel.title.caption;
    _jobs.ended.connect(this._onEnded, this);
    _jobs.changed.connect(this._count, this);
    _panel.seen.connect(this._count, this);
    void this._read();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._jobs.ended.disconnect(this._onEnded, this);
      this._jobs.changed.disconnect(this._count, this);
      this._panel.seen.disconnect(this._count, this);
      this._watch?.dispose();
    }
  }

  private async _read(): Promise<void> {
    const kept = await this._state?.fetch(FAILURES).catch(() => undefined);
    if (kept) {
      const { since, read } = kept as unknown as IFailuresKept;
      this._since = since;
      this._readIds = new Set(read);
      this._follow();
    }
    this._isRead = true;
    this._count();
  }

  /** Hear of jobs from now on, whoever begins them, and whether or not the panel is shown. */
  private _follow(): void {
    if (!this._isDisposed) {
      this._watch ??= this._events.watch('jobs');
    }
  }

  private _onEnded(_: Jobs, job: IJob): void {
    if (job.state === 'failed' && isInView(endOfJob(job))) {
      this._readIds.add(job.id);
    }
  }

  private _count(): void {
    const { isLoaded, list } = this._jobs;
    if (!this._isRead || !isLoaded) {
      return;
    }
    this._follow();
    const failed = list.filter(({ state }) => state === 'failed');
    if (this._since === null || this._panel.isVisible) {
      // By the server's clock, as the ends are.
      this._since = Math.max(0, ...failed.map(({ ended }) => ended ?? 0));
      this._readIds.clear();
    }
    const since = this._since;
    const unread = failed.filter(
      ({ id, ended }) => (ended ?? 0) > since && !this._readIds.has(id)
    );
    this._show(unread.length);
    const kept: IFailuresKept = { since, read: [...this._readIds] };
    const text = JSON.stringify(kept);
    if (text !== this._kept) {
      this._kept = text;
      void this._state?.save(FAILURES, { ...kept });
    }
  }

  private _show(failed: number): void {
    const { title } = this._panel;
    // JupyterLab finds the tab by what it has put there itself.
    const { failures: _, ...others } = title.dataset;
    title.dataset = failed ? { ...others, failures: String(failed) } : others;
    title.caption = failed
      ? `${this._caption}\n${this._trans._n('%1 job failed', '%1 jobs failed', failed)}`
      : this._caption;
  }

  private readonly _caption: string;
  /** End of the newest failure that was there when the panel was looked at, in seconds; null where it never was. */
  private _since: number | null = null;
  /** Failures since then that were read elsewhere. */
  private _readIds = new Set<string>();
  private _isRead = false;
  private _watch: IDisposable | null = null;
  private _kept = '';
  private _isDisposed = false;
}
