/** All that lies behind what is registered at JupyterLab's start: models, tabs, notices, what the commands do. */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { type INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { IStateDB } from '@jupyterlab/statedb';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { type Actions, actionsOf } from './actions';
import { Announcements, endOfJob, endOfSweep, type IBoard, type IEnd } from './announcements';
import { Api } from './api';
import type { IApp } from './components/common/context';
import { opened } from './components/common/opened';
import { EventStream } from './events';
import { ActiveNotebook } from './models/notebook/notebook';
import { Remembered } from './models/notebook/remembered';
import { Script } from './models/notebook/script';
import { PanelModel } from './models/panel';
import type { IPanelContent, PanelWidget } from './panelWidget';
import { addStatus } from './places/status';
import { FailureBadge } from './places/badge';
import { BrowserNotices } from './places/browserNotices';
import { CellBadge } from './places/cellBadge';
import { isInView } from './places/inView';
import { keepMessagesBeside } from './places/messages';
import { Tabs } from './tabs';
import { CommandIDs } from './tokens';
import type { Trackers } from './trackers';

/** The state behind everything. */
export function makeModel(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  trans: TranslationBundle,
  translator: ITranslator | null,
  state: IStateDB | null
): PanelModel {
  const api = new Api({
    serverSettings: app.serviceManager.serverSettings,
    language: () => translator?.languageCode ?? 'en',
    trans
  });
  const notebook = new ActiveNotebook(
    tracker,
    id => app.shell.activateById(id),
    NotebookActions.executed
  );
  return new PanelModel(api, new EventStream(api), notebook, new Remembered(state));
}

/** What the panel draws: asked for from here, so that the bundler knows that the models are there by then. */
export async function readPanel(model: PanelModel): Promise<IPanelContent> {
  const { Panel } = await import('./components/panel');
  return { model, Panel };
}

/** What JupyterLab gives, and what is there since its start. */
export interface ISession {
  app: JupyterFrontEnd;
  context: IApp;
  trackers: Trackers;
  panel: PanelWidget;
  showPanel: (mode: string) => void;
  /** Path of the script that is meant by where a command was called, or null. */
  scriptPath: (args: ReadonlyPartialJSONObject) => string | null;
  settings: ISettingRegistry.ISettings | null;
  notebooks: INotebookTracker;
  documents: IDocumentManager;
  shell: ILabShell | null;
  files: IFileBrowserFactory | null;
  state: IStateDB | null;
  statusBar: IStatusBar | null;
}

/** Connects the models with JupyterLab; answers what the commands do. */
export function beginSession(model: PanelModel, session: ISession): Actions {
  const { app, context, trackers, panel, settings, notebooks, documents, shell } = session;
  const { trans } = context;
  const tabs = new Tabs(app.shell, context, model, documents, trackers);
  const execute = (command: string, args: ReadonlyPartialJSONObject) =>
    void app.commands.execute(command, args);
  const open = (end?: IEnd) => {
    if (!end) {
      execute(CommandIDs.openPanel, {});
    } else if (end.kind === 'sweep') {
      execute(CommandIDs.openJobs, { sweep: end.id });
    } else {
      execute(CommandIDs.openJob, { id: end.id });
    }
  };
  const notices = new BrowserNotices(trans, open);
  // eslint-disable-next-line jupyter/require-disposable-ownership -- it lives as long as the page
  const badge = new CellBadge(model, trans, job =>
    job
      ? execute(CommandIDs.openJob, { id: job })
      : execute(CommandIDs.openPanel, { mode: 'side' })
  );
  const ask = async (isWished: boolean) => {
    // Said when it is switched on, not at each start.
    if (!(await notices.ask()) && isWished) {
      Notification.warning(
        trans.__(
          'The browser does not let this page show notifications. Allow them for this site in the browser’s settings.'
        ),
        { autoClose: 20_000 }
      );
    }
  };
  const apply = (isWished: boolean) => {
    badge.isOn = settings?.get('cellBadge').composite !== false;
    const isOn = settings?.get('notifyInBrowser').composite === true;
    if (isOn && !notices.isOn) {
      void ask(isWished);
    }
    notices.isOn = isOn;
    model.autoEstimate = settings?.get('autoEstimate').composite === true;
    model.follows = settings?.get('follow').composite !== false;
  };
  settings?.changed.connect(() => apply(true));
  apply(false);

  addStatus({ ...session, model });
  // eslint-disable-next-line jupyter/require-disposable-ownership -- it lives as long as the page
  new FailureBadge(panel, model.jobs, model.events, trans, session.state);
  keepMessagesBeside(panel);

  // Whoever goes back to the notebook or to the script means that one.
  shell?.currentChanged.connect((_, { newValue }) => {
    const found = newValue ? documents.contextForWidget(newValue) : undefined;
    if (newValue && newValue === notebooks.currentWidget) {
      model.notebook.leave();
    } else if (found && found.path === model.notebook.lastScript) {
      model.notebook.show(new Script(found.path, documents));
    }
  });
  // Of several notebooks the one in view is meant, also where a job's page lies over the active one.
  shell?.layoutModified.connect(() => model.notebook.look());

  const board: IBoard = {
    show: (text, type, { autoClose, open: callback }) =>
      Notification.emit(text, type, {
        autoClose,
        actions: [{ label: trans.__('Open'), callback }]
      }),
    has: id => Notification.manager.has(id),
    dismiss: id => Notification.dismiss(id)
  };
  const announcements = new Announcements(board, trans, open);
  const tell = (end: IEnd) => {
    notices.tell(end);
    // What is on the screen says it itself, and a message would lie over it.
    if (settings?.get('notify').composite !== false && !isInView(end)) {
      announcements.tell(end);
    }
  };
  model.jobs.ended.connect((_, job) => {
    if (model.takeOpening(job.id) && job.state === 'succeeded') {
      execute(CommandIDs.openNotebook, { id: job.id });
    }
    // Of a sweep the end is told, not that of each trial.
    if (job.spec.trial === null) {
      tell(endOfJob(job));
    }
  });
  model.plans.ended.connect((_, sweep) => tell(endOfSweep(sweep, trans)));

  return actionsOf({
    model,
    showPanel: session.showPanel,
    showJob: (...what) => tabs.showJob(...what),
    showViewer: (...what) => tabs.showViewer(...what),
    showJobs: (compared, sweep) => tabs.showJobs(compared, sweep),
    askAndRerun: async job => {
      const { Planner, rerunWith } = await opened(import('./pages'));
      const devices = model.inventory?.devices.length ?? 0;
      return rerunWith(context, model.jobs, new Planner(model.api), job, devices);
    },
    openPath: path => void documents.openOrReveal(path),
    openSource: (job, cell, line) => tabs.openNotebook(job, 'source', cell, line),
    activate: async id => {
      const notebook = notebooks.find(one => one.id === id);
      if (notebook && notebook !== notebooks.currentWidget) {
        app.shell.activateById(id);
        await new Promise<void>(done => {
          const slot = () => {
            notebooks.currentChanged.disconnect(slot);
            done();
          };
          notebooks.currentChanged.connect(slot);
        });
      }
      await notebook?.context.ready;
    },
    chosenNotebook: async () => {
      const selected = session.files?.tracker.currentWidget?.selectedItems().next().value;
      const widget = selected ? documents.openOrReveal(selected.path) : undefined;
      await widget?.revealed;
      return widget?.id ?? null;
    },
    chosenScript: args => {
      const path = session.scriptPath(args);
      return path ? new Script(path, documents) : null;
    },
    currentJob: () => tabs.currentJob(shell?.currentWidget ?? null)
  });
}
