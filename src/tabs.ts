/** Tabs in the main area: each job, and the page of all jobs. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';

import type { IApp } from './components/common/context';
import { opened } from './components/common/opened';
import type { IJob } from './domain';
import { paddleGpuIcon } from './icons';
import type { IFilePlace } from './models/job/files';
import { VIEWERS } from './models/jobs/runs';
import type { PanelModel } from './models/panel';
import { tabOf, type Trackers } from './trackers';
import { JobsWidget, JobWidget, ViewerFrame } from './widgets';

/** Where one types, in a cell or a file; null while it is not drawn. */
type Editor = NotebookPanel['content']['widgets'][number]['editor'];

export class Tabs {
  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _context: IApp,
    private readonly _model: PanelModel,
    private readonly _documents: IDocumentManager,
    private readonly _open: Trackers
  ) {}

  /** Id of the job whose tab this is; undefined for every other widget. */
  currentJob(widget: Widget | null): string | undefined {
    const job = this._open.jobs.currentWidget;
    return job && widget === job ? job.content.model.id : undefined;
  }

  /** Show a job, one of its page's tabs where it is named. */
  async showJob(id: string, part?: string): Promise<void> {
    const model = this._model;
    let tab = this._open.jobs.find(item => item.content.model.id === id);
    void this._learn();
    if (!tab) {
      await model.jobs.find(id);
      const view = await this._read(model.views.open(id));
      // Two may have asked for it meanwhile.
      tab = this._open.jobs.find(item => item.content.model.id === id);
      if (tab || !view) {
        view?.dispose();
      } else {
        const content = new JobWidget(
          this._context,
          view,
          this._documents.registry,
          (...where) => void this.openNotebook(...where),
          (...where) => void this._openFile(...where)
        );
        const made = (tab = tabOf(content));
        void this._open.jobs.add(made);
        this._shell.add(made, 'main');
        view.turned.connect(() => void this._open.jobs.save(made));
      }
    }
    if (tab) {
      tab.content.model.tab = part ?? tab.content.model.tab;
      this._shell.activateById(tab.id);
    }
  }

  /** Show another project's page, VisualDL's or TensorBoard's, on a job's curves. */
  showViewer(job: IJob, viewer: string, url: string): void {
    const id = `jp-PaddleGpu-${viewer}-${job.id}`;
    let tab = this._open.viewers.find(item => item.id === id);
    if (!tab) {
      const content = new ViewerFrame(job.id, viewer);
      content.url = url;
      content.title.icon = paddleGpuIcon;
      content.title.closable = true;
      content.title.label = `${VIEWERS[viewer]} · ${job.spec.name}`;
      content.node.querySelector('iframe')?.setAttribute('title', content.title.label);
      tab = tabOf(content, id);
      void this._open.viewers.add(tab);
      this._shell.add(tab, 'main');
    }
    this._shell.activateById(id);
  }

  /** Show all jobs, or two of them side by side, or a sweep unfolded. */
  async showJobs(compared?: string[], sweep = ''): Promise<void> {
    const learnt = this._learn();
    const read = await this._read(opened(import('./pages')));
    if (!read) {
      return;
    }
    let tab = this._open.pages.currentWidget;
    if (!tab || tab.isDisposed) {
      const { api, jobs, plans } = this._model;
      const page = new read.JobsPageModel(api, jobs, plans, this._context.trans);
      tab = tabOf(new JobsWidget(this._context, this._model.events, page));
      void this._open.pages.add(tab);
      this._shell.add(tab, 'main');
    }
    this._shell.activateById(tab.id);
    if (compared) {
      // On a page that was just loaded no job is known yet.
      await learnt;
      tab.content.model.compare(compared);
    }
    const { plans } = tab.content.model;
    void plans.refresh();
    if (sweep && plans.shown !== sweep) {
      plans.show(sweep);
    }
  }

  /** Open a job's notebook, the one it was made of or the one it wrote, at a cell and a line in it. */
  async openNotebook(
    job: IJob,
    which: 'source' | 'executed',
    cell: number | null,
    line?: number
  ): Promise<void> {
    const source = which === 'source' ? await this._source(job) : null;
    // A source that was moved or deleted since is not there to be corrected.
    const found = source && (await this._isThere(source)) ? source : null;
    const path = found ?? (await this._model.jobs.publish(job.id))?.path;
    const panel = path ? (this._documents.openOrReveal(path) as NotebookPanel) : undefined;
    await panel?.context.ready;
    await panel?.revealed;
    const notebook = panel?.content;
    if (notebook && !notebook.widgets) {
      // A script's editor has no cells.
      const { editor } = notebook as unknown as { editor?: Editor };
      reveal(editor, line ?? 1);
    } else if (notebook && cell !== null && cell < notebook.widgets.length) {
      notebook.activeCellIndex = cell;
      await notebook.scrollToItem(cell, 'smart');
      // The button that was pressed may lie behind it now: keys go to the cell.
      notebook.activate();
      if (line !== undefined) {
        reveal(notebook.widgets[cell].editor, line);
      }
    }
  }

  /** Open a file beside a job's notebook at a line, or say that it is not there any more. */
  private async _openFile(job: IJob, { file, line }: IFilePlace): Promise<void> {
    const source = await this._source(job);
    const path = PathExt.join(PathExt.dirname(source ?? ''), file);
    if (source === null || !(await this._isThere(path))) {
      const { trans } = this._context;
      Notification.warning(trans.__('%1 is not there any more.', file), { autoClose: 5_000 });
      return;
    }
    const widget = this._documents.openOrReveal(path, 'Editor');
    await widget?.context.ready;
    await widget?.revealed;
    reveal((widget?.content as { editor?: Editor } | undefined)?.editor, line);
  }

  /** Path of the notebook that a job was made of; null where the server's files do not have it. */
  private async _source(job: IJob): Promise<string | null> {
    return this._model.api.source(job.id).catch(() => null);
  }

  private async _isThere(path: string): Promise<boolean> {
    return this._documents.services.contents.get(path, { content: false }).then(
      () => true,
      () => false
    );
  }

  /** Ask the server for what pages name (engines by their titles), where no panel has yet. */
  private async _learn(): Promise<void> {
    if (!this._model.isReady) {
      await this._model.connect();
    }
  }

  /** A part of the program that is read when it is first opened; null, and said so, where the server does not answer. */
  private async _read<T>(part: Promise<T>): Promise<T | null> {
    try {
      return await part;
    } catch {
      const { trans } = this._context;
      Notification.error(trans.__('The server does not answer. Jobs go on without it.'));
      return null;
    }
  }
}

/** Put the cursor at the beginning of a line, counted from 1. */
function reveal(editor: Editor | undefined, line: number): void {
  if (editor) {
    const position = { line: Math.min(line, editor.lineCount) - 1, column: 0 };
    editor.setCursorPosition(position);
    editor.revealPosition(position);
    editor.focus();
  }
}
