/** A badge on the cell that trains: what it takes, or how far its job is. Off by a setting. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { jobSentence } from '../components/jobs/words';
import { bytes } from '../format';
import { isOf } from '../models/jobs/jobViews';
import type { PanelModel } from '../models/panel';

const NAME = 'jp-PaddleGpu-cellBadge';

export class CellBadge implements IDisposable {
  /** `open` shows a job's page, or, without one, the panel. */
  constructor(
    private readonly _model: PanelModel,
    private readonly _trans: TranslationBundle,
    private readonly _open: (job: string | null) => void
  ) {
    this._node.type = 'button';
    this._node.className = NAME;
    this._node.addEventListener('click', () => this._open(this._job));
    _model.changed.connect(this._draw, this);
    _model.jobs.changed.connect(this._draw, this);
  }

  get isOn(): boolean {
    return this._isOn;
  }

  set isOn(isOn: boolean) {
    this._isOn = isOn;
    this._draw();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._model.changed.disconnect(this._draw, this);
      this._model.jobs.changed.disconnect(this._draw, this);
      this._node.remove();
    }
  }

  private _draw(): void {
    const words = this._isOn ? this._words() : '';
    const host = words ? this._host() : null;
    if (!host) {
      this._node.remove();
      return;
    }
    if (this._node.textContent !== words) {
      this._node.textContent = words;
      this._node.title = this._job
        ? this._trans.__('Open log, metrics and memory of this job')
        : this._trans.__('What this training takes; the panel says more');
    }
    if (this._node.parentElement !== host) {
      host.append(this._node);
    }
  }

  /** The cell of the training that the panel shows. */
  private _host(): HTMLElement | null {
    const training = this._model.training;
    const estimate = training?.estimate;
    const { trainings } = estimate ?? {};
    const shown = trainings?.find(({ id }) => id === estimate?.training) ?? trainings?.[0];
    const cell = shown?.where?.cell ?? null;
    return cell === null ? null : (training?.source.cellNode?.(cell) ?? null);
  }

  private _words(): string {
    const training = this._model.training;
    const estimate = training?.estimate;
    if (!training || !estimate) {
      return '';
    }
    const job = this._model.views.running?.job;
    if (job && isOf(job, training.source.path)) {
      this._job = job.id;
      return jobSentence(job, this._trans);
    }
    this._job = null;
    const total = estimate.peak_bytes ?? estimate.allocated_peak_bytes;
    if (estimate.stop) {
      return this._trans.__('would stop');
    }
    return total === null ? '' : `${training.stale ? '≈ ' : ''}${bytes(total)}`;
  }

  private readonly _node = document.createElement('button');
  private _job: string | null = null;
  private _isOn = false;
  private _isDisposed = false;
}
