/** The panel as JupyterLab's shell holds it: there from the start, while all that it shows is read when it is first seen. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import * as React from 'react';

import { AppProvider, type IApp } from './components/common/context';
import { whenOpened } from './components/common/opened';
import { paddleGpuIcon } from './icons';
import type { PanelModel } from './models/panel';
import { PRODUCT } from './tokens';

/** What is read when the panel is first seen. */
export interface IPanelContent {
  model: PanelModel;
  Panel: React.ComponentType<{ model: PanelModel }>;
}

/** The panel, in a sidebar or as a tab. Nothing is drawn before it is first seen; it listens while it is. */
export class PanelWidget extends ReactWidget {
  constructor(
    private readonly _app: IApp,
    private readonly _read: () => Promise<IPanelContent>
  ) {
    super();
    this.addClass('jp-PaddleGpu');
    this.addClass('jp-PaddleGpu-sized');
    this.title.icon = paddleGpuIcon;
    this.title.caption = _app.trans.__('Paddle GPU: what trains, what it takes, where it fits');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', PRODUCT);
  }

  /** Emitted each time somebody gets to see it. */
  get seen(): ISignal<this, void> {
    return this._seen;
  }

  override dispose(): void {
    this._look?.dispose();
    this._look = null;
    super.dispose();
  }

  /** Give it the keyboard. */
  focus(): void {
    const content = this.node.querySelector<HTMLElement>('.jp-PaddleGpu-panel') ?? this.node;
    content.setAttribute('tabindex', '-1');
    content.focus();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._onSeen();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this._onSeen();
    }
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this._look?.dispose();
    this._look = null;
  }

  protected render(): JSX.Element | null {
    const Content = this._content;
    return this._wasSeen ? (
      <AppProvider value={this._app}>
        <Content />
      </AppProvider>
    ) : null;
  }

  private _onSeen(): void {
    if (!this._wasSeen) {
      this._wasSeen = true;
      this.update();
    }
    this._listen();
    this._seen.emit();
  }

  private _listen(): void {
    if (this._model && this.isVisible) {
      this._look ??= this._model.look();
    }
  }

  private readonly _content = whenOpened(async () => {
    const { model, Panel } = await this._read();
    this._model = model;
    this._listen();
    return () => <Panel model={model} />;
  });
  private _model: PanelModel | null = null;
  private _wasSeen = false;
  private _look: IDisposable | null = null;
  private readonly _seen = new Signal<this, void>(this);
}
