/** The status bar: how many jobs run, how far the first one is, which devices are free; nothing while nothing runs. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';

import { isEnded } from '../domain';
import type { PanelModel } from '../models/panel';
import { inWords } from './words';

export class StatusItem extends ReactWidget {
  constructor(
    private readonly _model: PanelModel,
    private readonly _trans: TranslationBundle,
    private readonly _open: () => void
  ) {
    super();
    this.addClass('jp-PaddleGpu-statusItem');
    _model.jobs.changed.connect(this._onNews, this);
    _model.changed.connect(this._onNews, this);
  }

  /** Whether there is something to say. */
  get isActive(): boolean {
    return this._words !== '';
  }

  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._model.jobs.changed.disconnect(this._onNews, this);
      this._model.changed.disconnect(this._onNews, this);
      this._watches.forEach(watch => watch.dispose());
      Signal.clearData(this);
      super.dispose();
    }
  }

  protected render(): JSX.Element {
    return (
      <button
        type="button"
        className="jp-PaddleGpu-statusButton"
        title={this._trans.__('Paddle GPU: show the panel')}
        onClick={this._open}
      >
        {this._words}
      </button>
    );
  }

  private _onNews(): void {
    const isActive = this._model.jobs.list.some(({ state }) => !isEnded(state));
    if (isActive && !this._watches.length) {
      const { events } = this._model;
      this._watches = [events.watch('jobs'), events.watch('devices')];
    } else if (!isActive) {
      this._watches.forEach(watch => watch.dispose());
      this._watches = [];
    }
    const words = inWords(this._model, this._trans);
    if (words !== this._words) {
      const wasActive = this.isActive;
      this._words = words;
      this.update();
      if (wasActive !== this.isActive) {
        this._activeChanged.emit();
      }
    }
  }

  private _words = '';
  private _watches: IDisposable[] = [];
  private readonly _activeChanged = new Signal<this, void>(this);
}
