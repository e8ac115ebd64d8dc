/** Registers names with JupyterLab: panel, commands, icons, settings. What lies behind them is read when it is needed. */

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
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Actions } from './actions';
import { addCommands } from './commands';
import type { IApp } from './components/common/context';
import type { PanelModel } from './models/panel';
import { Once } from './once';
import { PanelWidget } from './panelWidget';
import { addPlaces } from './places';
import { followJobLinks } from './places/jobLinks';
import { CommandIDs, DOMAIN, IPaddleGpuModel, PRODUCT } from './tokens';
import { tabOf, Trackers } from './trackers';

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
    const once = new Once<PanelModel>(async () => {
      const { makeModel } = await import('./session');
      return makeModel(app, tracker, trans, translator, state);
    });
    return {
      get model() {
        return once.value;
      },
      load: () => once.get()
    };
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
    lazy: IPaddleGpuModel,
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
      language: translator?.languageCode.replace('_', '-') || 'en',
      commands: app.commands,
      engineTitle: name =>
        lazy.model?.engines.find(engine => engine.name === name)?.title.message ?? name,
      deviceOf: id => lazy.model?.inventory?.devices.find(device => device.id === id)
    };
    const trackers = new Trackers();
    const session = new Once<Actions>(async () => {
      const [{ beginSession }, model] = await Promise.all([import('./session'), lazy.load()]);
      const actions = beginSession(model, {
        ...{ app, context, trackers, panel, showPanel, scriptPath, settings, notebooks },
        ...{ documents, shell, files, state, statusBar }
      });
      app.commands.notifyCommandChanged();
      return actions;
    });
    const read = async () => {
      await session.get();
      const { readPanel } = await import('./session');
      return readPanel(await lazy.load());
    };
    const panel = new PanelWidget(context, read);
    panel.id = 'jp-PaddleGpu-panel';
    const settings = registry ? await registry.load(PLUGIN).catch(() => null) : null;
    const isLeft = () => settings?.get('side').composite === 'left';
    const load = () => void session.get().catch(() => undefined);

    const showPanel = (mode: string) => {
      let tab = trackers.panel;
      if (mode !== 'main') {
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
      if (!tab) {
        const content = new PanelWidget(context, read);
        content.title.label = PRODUCT;
        content.title.closable = true;
        tab = tabOf(content, 'jp-PaddleGpu-panelTab');
        void trackers.panels.add(tab);
        app.shell.add(tab, 'main');
      }
      app.shell.activateById(tab.id);
      // Twice the same side by side takes the room of the notebook.
      if (panel.isVisible) {
        if (isLeft()) {
          shell?.collapseLeft();
        } else {
          shell?.collapseRight();
        }
      }
    };
    const scriptPath = (args: ReadonlyPartialJSONObject) => {
      const { currentWidget } = app.shell;
      const selected = files?.tracker.currentWidget?.selectedItems().next().value;
      const path =
        typeof args.path === 'string'
          ? args.path
          : args.from === 'files'
            ? selected?.path
            : currentWidget && documents.contextForWidget(currentWidget)?.path;
      return path?.endsWith('.py') ? path : null;
    };

    app.shell.add(panel, isLeft() ? 'left' : 'right', { rank: 700 });
    restorer?.add(panel, 'jupyter-paddle-gpu');
    // Beside its twin it would take the room of the notebook: there is one panel, where it was asked for last.
    panel.seen.connect(() => trackers.panel?.close());
    followJobLinks(id => void app.commands.execute(CommandIDs.openJob, { id }));
    addPlaces({
      ...{ app, panel, notebooks, trans, state, toolbars, launcher, load },
      opensOnce: () => settings?.get('openOnce').composite !== false,
      hasBadge: () => settings?.get('cellBadge').composite !== false
    });
    // The browser is asked whether it may tell as soon as that is wished.
    const apply = () => {
      inLanguage(settings?.schema, trans);
      if (settings?.get('notifyInBrowser').composite === true) {
        load();
      }
    };
    settings?.changed.connect(apply);
    apply();

    addCommands({
      commands: app.commands,
      trans,
      hasNotebook: args => args.from === 'files' || notebooks.currentWidget !== null,
      hasScript: args => scriptPath(args) !== null,
      showPanel,
      known: () => session.value,
      actions: () =>
        session.get().catch(error => {
          Notification.error(trans.__('The server does not answer. Jobs go on without it.'));
          throw error;
        })
    });
    notebooks.currentChanged.connect(() => app.commands.notifyCommandChanged());
    if (restorer) {
      trackers.restore(restorer);
    }

    const category = PRODUCT;
    for (const command of [CommandIDs.openPanel, CommandIDs.estimate, CommandIDs.submit]) {
      palette?.addItem({ command, category });
    }
    palette?.addItem({ command: CommandIDs.openPanel, category, args: { mode: 'main' } });
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
  }
};

/** Titles and descriptions in the page's language: JupyterLab translates those of its own language packs alone. */
function inLanguage(
  schema: ISettingRegistry.ISchema | undefined,
  trans: TranslationBundle
): void {
  const said = [schema, ...Object.values(schema?.properties ?? {})] as Record<string, string>[];
  for (const one of schema ? said : []) {
    for (const name of ['title', 'description']) {
      // eslint-disable-next-line jupyter/no-dynamic-translation -- they stand in the schema, and a test holds them
      one[name] = trans.__(one[name]);
    }
  }
}

const plugins: JupyterFrontEndPlugin<unknown>[] = [model, plugin];
export default plugins;
