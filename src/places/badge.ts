/** A number on the sidebar's icon: jobs that failed where nobody saw it since the panel was looked at. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { endOfJob } from '../announcements';
import type { IJob } from '../domain';
import type { Jobs } from '../models/jobs/jobs';
import type { PanelWidget } from '../panelWidget';
import { isInView } from './inView';

export class FailureBadge implements IDisposable {
  constructor(
    private readonly _panel: PanelWidget,
    private readonly _jobs: Jobs,
    private readonly _trans: TranslationBundle
  ) {
    this._caption = _panel.title.caption;
    _jobs.ended.connect(this._onEnded, this);
    _panel.seen.connect(this._clear, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._jobs.ended.disconnect(this._onEnded, this);
      this._panel.seen.disconnect(this._clear, this);
    }
  }

  private _onEnded(_: Jobs, job: IJob): void {
    if (job.state === 'failed' && !this._panel.isVisible && !isInView(endOfJob(job))) {
      this._failed++;
      this._show();
    }
  }

  private _clear(): void {
    this._failed = 0;
    this._show();
  }

  private _show(): void {
    const { title } = this._panel;
    const failed = this._failed;
    // JupyterLab finds the tab by what it has put there itself.
    const { failures: _, ...others } = title.dataset;
    title.dataset = failed ? { ...others, failures: String(failed) } : others;
    title.caption = failed
      ? `${this._caption}\n${this._trans._n('%1 job failed', '%1 jobs failed', failed)}`
      : this._caption;
  }

  private readonly _caption: string;
  private _failed = 0;
  private _isDisposed = false;
}
