/** A Python script, looked at as a notebook is. */

import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { type ISignal, Signal } from '@lumino/signaling';

import type { INotebookBody } from '../../api';
import type { INotebookSource } from './notebook';

/** A script by its path; where it is open in an editor, with what is not saved yet. */
export class Script implements INotebookSource {
  constructor(
    readonly path: string,
    private readonly _documents: IDocumentManager
  ) {
    this.name = PathExt.basename(path);
    this._context?.model.contentChanged.connect(this._onEdit, this);
  }

  readonly name: string;
  /** Nothing of it is run without a click. */
  readonly trusted = false;

  /** Emitted on each edit of the open file. */
  get edited(): ISignal<this, void> {
    return this._edited;
  }

  body(): INotebookBody {
    const content = this._context?.model.toString();
    return content === undefined ? { path: this.path } : { path: this.path, content };
  }

  fingerprint(): string {
    return this._context?.model.toString() ?? this.path;
  }

  reveal(): void {
    this._documents.openOrReveal(this.path);
  }

  dispose(): void {
    this._context?.model.contentChanged.disconnect(this._onEdit, this);
    Signal.clearData(this);
  }

  private get _context() {
    const widget = this._documents.findWidget(this.path);
    const context = widget ? this._documents.contextForWidget(widget) : undefined;
    return context?.isReady ? context : undefined;
  }

  private _onEdit(): void {
    this._edited.emit();
  }

  private readonly _edited = new Signal<this, void>(this);
}
