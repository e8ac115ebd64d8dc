/** Puts the parts into JupyterLab: panel, commands, job views, notifications. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry, Notification } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { Announcements, endOfJob, endOfSweep, type IBoard, type IEnd } from './announcements';
import { Api } from './api';
import { addCommands } from './commands';
import type { IApp } from './components/common/context';
import { opened } from './components/common/opened';
import { EventStream } from './events';
import { BrowserNotices } from './places/browserNotices';
import { CellBadge } from './places/cellBadge';
import { isInView } from './places/inView';
import { followJobLinks } from './places/jobLinks';
import { ActiveNotebook } from './models/notebook/notebook';
import { PanelModel } from './models/panel';
import { Remembered } from './models/notebook/remembered';
import { isScript, Script } from './models/notebook/script';
import { addPlaces } from './places';
import { Tabs } from './tabs';
import { CommandIDs, DOMAIN, IPaddleGpuModel, PRODUCT } from './tokens';
import { PanelWidget } from './widgets';

const PLUGIN = 'jupyter-paddle-gpu:plugin';

/** The state behind everything, also for other extensions. */
const model: JupyterFrontEndPlugin<IPaddleGpuModel> = {
  id: 'jupyter-paddle-gpu:model',
  description: 'What trains in the active notebook, what it takes, and the jobs.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, IStateDB],
  provides: IPaddleGpuModel,
  activate: (
    app,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    state: IStateDB | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
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
};

/** Panel, commands, job views, notifications. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: 'Panel, commands and job views of Paddle GPU.',
  autoStart: true,
  requires: [IPaddleGpuModel, INotebookTracker, IDocumentManager],
  optional: [
    ITranslator,
    ICommandPalette,
    ILayoutRestorer,
    ISettingRegistry,
    ILabShell,
    IFileBrowserFactory,
    IStateDB,
    IToolbarWidgetRegistry,
    ILauncher,
    IStatusBar
  ],
  activate: async (
    app: JupyterFrontEnd,
    model: IPaddleGpuModel,
    notebooks: INotebookTracker,
    documents: IDocumentManager,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null,
    shell: ILabShell | null,
    files: IFileBrowserFactory | null,
    state: IStateDB | null,
    toolbars: IToolbarWidgetRegistry | null,
    launcher: ILauncher | null,
    statusBar: IStatusBar | null
  ) => {
    const trans = (translator ?? nullTranslator).load(DOMAIN);
    const context: IApp = {
      trans,
      language: model.api.language,
      commands: app.commands,
      engineTitle: name =>
        model.engines.find(engine => engine.name === name)?.title.message ?? name,
      deviceOf: id => model.inventory?.devices.find(device => device.id === id)
    };
    const tabs = new Tabs(app.shell, context, model, documents);
    const panel = new PanelWidget(context, model);
    panel.id = 'jp-PaddleGpu-panel';
    const settings = registry ? await registry.load(PLUGIN).catch(() => null) : null;
    const open = (end?: IEnd) => {
      const [command, args] = !end
        ? [CommandIDs.openPanel, {}]
        : end.kind === 'sweep'
          ? [CommandIDs.openJobs, { sweep: end.id }]
          : [CommandIDs.openJob, { id: end.id }];
      void app.commands.execute(command, args);
    };
    const notices = new BrowserNotices(trans, open);
    const badge = new CellBadge(model, trans, job => {
      const [command, args] = job
        ? [CommandIDs.openJob, { id: job }]
        : [CommandIDs.openPanel, { mode: 'side' }];
      void app.commands.execute(command, args);
    });
    followJobLinks(id => void app.commands.execute(CommandIDs.openJob, { id }));
    const apply = () => {
      badge.isOn = settings?.get('cellBadge').composite !== false;
      const isOn = settings?.get('notifyInBrowser').composite === true;
      if (isOn && !notices.isOn) {
        void notices.ask();
      }
      notices.isOn = isOn;
      model.autoEstimate = settings?.get('autoEstimate').composite === true;
      model.follows = settings?.get('follow').composite !== false;
    };
    settings?.changed.connect(apply);
    apply();
    app.shell.add(panel, settings?.get('side').composite === 'left' ? 'left' : 'right', {
      rank: 700
    });
    restorer?.add(panel, 'jupyter-paddle-gpu');
    // Beside its twin it would take the room of the notebook: there is one panel, where it was asked for last.
    panel.seen.connect(() => tabs.panel?.close());
    addPlaces({
      ...{ app, model, panel, notebooks, trans, state, toolbars, launcher, statusBar },
      opensOnce: () => settings?.get('openOnce').composite !== false
    });

    addCommands({
      commands: app.commands,
      model,
      notebooks,
      trans,
      showPanel: mode => {
        if (mode !== 'main') {
          const tab = tabs.panel;
          // A tab that lies behind the notebook would cover it: then the panel goes to the side.
          const shown = tab && (mode === 'focus' || tab.isVisible) ? tab : panel;
          if (shown === panel || mode === 'focus') {
            app.shell.activateById(shown.id);
          }
          if (mode === 'focus') {
            (tab?.content ?? panel).focus();
          }
          return;
        }
        tabs.showPanel();
        // Twice the same side by side takes the room of the notebook.
        if (panel.isVisible && shell) {
          if (settings?.get('side').composite === 'left') {
            shell.collapseLeft();
          } else {
            shell.collapseRight();
          }
        }
      },
      showJob: id => tabs.showJob(id),
      showViewer: (...what) => tabs.showViewer(...what),
      showJobs: (compared, sweep) => tabs.showJobs(compared, sweep),
      askAndRerun: async job => {
        const { Planner, rerunWith } = await opened(import('./pages'));
        const devices = model.inventory?.devices.length ?? 0;
        return rerunWith(context, model.jobs, new Planner(model.api), job, devices);
      },
      openPath: path => void documents.openOrReveal(path),
      openSource: (job, cell) => tabs.openNotebook(job, 'source', cell),
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
        const selected = files?.tracker.currentWidget?.selectedItems().next().value;
        const widget = selected ? documents.openOrReveal(selected.path) : undefined;
        await widget?.revealed;
        return widget?.id ?? null;
      },
      chosenScript: args => {
        const context = app.shell.currentWidget
          ? documents.contextForWidget(app.shell.currentWidget)
          : undefined;
        const selected = files?.tracker.currentWidget?.selectedItems().next().value;
        const path =
          typeof args.path === 'string'
            ? args.path
            : args.from === 'files'
              ? selected?.path
              : context?.path;
        return path && isScript(path) ? new Script(path, documents) : null;
      },
      currentJob: () => tabs.currentJob(shell?.currentWidget ?? null)
    });

    // Whoever goes back to the notebook or to the script means that one.
    shell?.currentChanged.connect((_, { newValue }) => {
      const context = newValue ? documents.contextForWidget(newValue) : undefined;
      if (newValue && newValue === notebooks.currentWidget) {
        model.notebook.leave();
      } else if (context && context.path === model.notebook.lastScript) {
        model.notebook.show(new Script(context.path, documents));
      }
    });

    // Of several notebooks the one in view is meant, also where a job's page lies over the active one.
    shell?.layoutModified.connect(() => model.notebook.look());

    if (restorer) {
      tabs.restore(restorer);
    }

    const category = PRODUCT;
    for (const command of [CommandIDs.openPanel, CommandIDs.estimate, CommandIDs.submit]) {
      palette?.addItem({ command, category });
    }
    palette?.addItem({
      command: CommandIDs.openPanel,
      category,
      args: { mode: 'main' }
    });
    for (const command of [
      CommandIDs.openJob,
      CommandIDs.openNotebook,
      CommandIDs.openViewer,
      CommandIDs.cancelJob,
      CommandIDs.rerunJob,
      CommandIDs.rerunWith,
      CommandIDs.openJobs,
      CommandIDs.compareJobs
    ]) {
      palette?.addItem({ command, category });
    }

    const board: IBoard = {
      show: (text, type, { autoClose, open }) =>
        Notification.emit(text, type, {
          autoClose,
          actions: [{ label: trans.__('Open'), callback: open }]
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
        void app.commands.execute(CommandIDs.openNotebook, { id: job.id });
      }
      // Of a sweep the end is told, not that of each trial.
      if (job.spec.trial === null) {
        tell(endOfJob(job));
      }
    });
    model.plans.ended.connect((_, sweep) => tell(endOfSweep(sweep, trans)));
  }
};

const plugins: JupyterFrontEndPlugin<unknown>[] = [model, plugin];
export default plugins;
