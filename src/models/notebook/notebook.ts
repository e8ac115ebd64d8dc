/** The notebook that is looked at, as the rest of the front end needs it. */

import type { INotebookTracker, Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { INotebookBody } from '../../api';
import type { IChangedCell } from '../../domain';
import { type ILiveKernel, LiveKernel } from './liveKernel';
import type { Script } from './script';
import { type IWritable, type IWritten, writeCells } from './written';

/** States in which a kernel holds nothing of what it held. */
const FORGETS: ReadonlySet<Kernel.Status> = new Set([
  'restarting',
  'autorestarting',
  'terminating',
  'dead'
]);

/** A notebook that is open. */
export interface INotebookSource extends IWritable {
  readonly name: string;
  /** Whether the reader trusts every cell of it. */
  readonly trusted: boolean;
  /** Path and unsaved content; of outputs the beginning of what was printed, which may tell what data looks like. */
  body(): INotebookBody;
  /** What the code says: alike for two states of the notebook that differ in outputs only. */
  fingerprint(): string;
  /** Go to a cell (index among all cells). */
  reveal(cell: number): void;
  /** The node of a cell, for a badge on it; none for a script. */
  cellNode?(cell: number): HTMLElement | null;
  /** What can be asked of its kernel. */
  readonly kernel?: ILiveKernel;
}

/** Two contents paths of the same notebook. */
export interface IRenaming {
  from: string;
  to: string;
}

/** Characters of one output that are sent, and outputs of a cell: as much as the server reads, pictures aside. */
const PRINTED = 20_000;
const PRINTED_OUTPUTS = 20;

/** What a cell's outputs have as text, each as if it were printed. */
function printed(outputs: unknown): PartialJSONObject[] {
  return ((outputs ?? []) as PartialJSONObject[]).slice(0, PRINTED_OUTPUTS).flatMap(output => {
    const { 'text/plain': plain } = (output.data ?? {}) as PartialJSONObject;
    const said = output.text ?? plain ?? '';
    const text = (Array.isArray(said) ? said.join('') : String(said)).slice(0, PRINTED);
    return text ? [{ output_type: 'stream', name: 'stdout', text }] : [];
  });
}

/** Follows the notebook that is active. */
export class ActiveNotebook implements IDisposable {
  constructor(
    tracker: INotebookTracker,
    private readonly _activate: (id: string) => void,
    private readonly _cellRan?: ISignal<unknown, { notebook: Notebook }>
  ) {
    this._tracker = tracker;
    tracker.currentChanged.connect(this._onCurrent, this);
    this._cellRan?.connect(this._onExecuted, this);
    this._onCurrent();
  }

  /** The script that somebody asked for, else the active notebook once its content is there; null where neither is. */
  get current(): INotebookSource | null {
    return this._script ?? this._current;
  }

  /** The script that is looked at instead of the active notebook. */
  get script(): Script | null {
    return this._script;
  }

  /** Path of the script that was looked at last; empty before the first. */
  get lastScript(): string {
    return this._lastScript;
  }

  /** The notebook that comes back when the script is left. */
  get behind(): INotebookSource | null {
    return this._script ? this._current : null;
  }

  /** Look at a script until a notebook is active again, or `leave` is called. */
  show(script: Script): void {
    if (this._script?.path === script.path) {
      script.dispose();
    } else {
      this._dropScript();
      this._script = script;
      this._lastScript = script.path;
      script.edited.connect(this._onEdit, this);
      this._changed.emit();
    }
  }

  /** Look at the active notebook again. */
  leave(): void {
    if (this._script) {
      this._dropScript();
      this._changed.emit();
    }
  }

  /** Look again which one is meant, where what lies in view is other than before. */
  look(): void {
    this._onCurrent();
  }

  /** Emitted when another notebook is active, or this one got another path. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted before `changed` when the active notebook got another path. */
  get renamed(): ISignal<this, IRenaming> {
    return this._renamed;
  }

  /** Emitted on each edit of the active notebook. */
  get edited(): ISignal<this, void> {
    return this._edited;
  }

  /** Emitted when a cell of the active notebook has run, and when its kernel died or begins anew. */
  get executed(): ISignal<this, void> {
    return this._executed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._cellRan?.disconnect(this._onExecuted, this);
      this._dropScript();
      this._release();
      Signal.clearData(this);
    }
  }

  private _onCurrent(): void {
    const panel = this._meant();
    if (panel === this._panel) {
      return;
    }
    this._release();
    this._dropScript();
    this._panel = panel;
    this._current = null;
    this._changed.emit();
    if (panel) {
      panel.disposed.connect(this._onCurrent, this);
      panel.context.pathChanged.connect(this._onPath, this);
      panel.sessionContext.statusChanged.connect(this._onStatus, this);
      panel.context.ready.then(
        () => {
          if (this._panel === panel && !panel.isDisposed) {
            panel.context.model.contentChanged.connect(this._onEdit, this);
            this._onPath();
          }
        },
        () => undefined
      );
    }
  }

  /** The active one; where another tab lies over it, one that is in view beside that. */
  private _meant(): NotebookPanel | null {
    const active = this._tracker.currentWidget;
    const isHidden = active?.isVisible === false;
    return (isHidden && this._tracker.find(({ isVisible }) => isVisible)) || active;
  }

  private _onPath(): void {
    const panel = this._panel;
    if (panel && panel.context.isReady) {
      const from = this._current?.path;
      this._current = new OpenNotebook(panel, this._activate);
      if (from !== undefined && from !== this._current.path) {
        this._renamed.emit({ from, to: this._current.path });
      }
      this._changed.emit();
    }
  }

  private _onEdit(): void {
    this._edited.emit();
  }

  private _onExecuted(_: unknown, { notebook }: { notebook: Notebook }): void {
    if (notebook === this._panel?.content) {
      this._executed.emit();
    }
  }

  private _onStatus(_: unknown, status: Kernel.Status): void {
    if (FORGETS.has(status)) {
      this._executed.emit();
    }
  }

  private _dropScript(): void {
    this._script?.dispose();
    this._script = null;
  }

  private _release(): void {
    const panel = this._panel;
    this._panel = null;
    if (panel) {
      panel.disposed.disconnect(this._onCurrent, this);
      panel.context.pathChanged.disconnect(this._onPath, this);
      panel.sessionContext.statusChanged.disconnect(this._onStatus, this);
      panel.context.model?.contentChanged.disconnect(this._onEdit, this);
    }
  }

  private readonly _tracker: INotebookTracker;
  private _panel: NotebookPanel | null = null;
  private _current: INotebookSource | null = null;
  private _script: Script | null = null;
  private _lastScript = '';
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _renamed = new Signal<this, IRenaming>(this);
  private readonly _edited = new Signal<this, void>(this);
  private readonly _executed = new Signal<this, void>(this);
}

class OpenNotebook implements INotebookSource {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _activate: (id: string) => void
  ) {
    this.path = _panel.context.path;
    this.name = this.path.split('/').pop() ?? this.path;
    this.kernel = new LiveKernel(_panel.sessionContext);
  }

  readonly kernel: ILiveKernel;
  readonly path: string;
  readonly name: string;

  get trusted(): boolean {
    const cells = this._panel.content.model?.cells;
    return !!cells && [...cells].every(cell => cell.type !== 'code' || cell.trusted);
  }

  body(): INotebookBody {
    const content = this._panel.context.model.toJSON() as PartialJSONObject;
    const cells = content.cells as PartialJSONObject[];
    return {
      path: this.path,
      content: {
        ...content,
        cells: cells.map(cell =>
          cell.cell_type === 'code'
            ? { ...cell, outputs: printed(cell.outputs), execution_count: null }
            : cell
        )
      }
    };
  }

  fingerprint(): string {
    const { model } = this._panel.content;
    return JSON.stringify([
      ...[...(model?.cells ?? [])].map(cell => [cell.type, cell.sharedModel.getSource()]),
      // What it says of its image and its environment.
      ...[model?.getMetadata('paddle_gpu') ?? []].flat()
    ]);
  }

  reveal(cell: number): void {
    const notebook = this._panel.content;
    if (cell < notebook.widgets.length) {
      this._activate(this._panel.id);
      notebook.deselectAll();
      notebook.activeCellIndex = cell;
      void notebook.scrollToItem(cell, 'smart');
    }
  }

  cellNode(cell: number): HTMLElement | null {
    return this._panel.isDisposed ? null : (this._panel.content.widgets[cell]?.node ?? null);
  }

  write(cells: readonly IChangedCell[], files: readonly IWritten[]): void {
    const notebook = this._panel.content;
    const shared = notebook.model?.sharedModel;
    if (!shared) {
      return;
    }
    const first = writeCells(shared, cells, files);
    if (first !== null) {
      this.reveal(first);
      notebook.mode = 'edit';
    }
  }
}
