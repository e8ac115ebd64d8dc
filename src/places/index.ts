/** Where JupyterLab shows us besides the panel: toolbar, launcher, status bar, badge, the first look. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { CommandToolbarButton, type IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IStateDB } from '@jupyterlab/statedb';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';

import { paddleGpuIcon } from '../icons';
import type { PanelModel } from '../models/panel';
import { CommandIDs } from '../tokens';
import type { PanelWidget } from '../widgets';
import { FailureBadge } from './badge';
import { importsPaddle, LEAST, NARROW, onceEver, widen } from './firstLook';
import { keepMessagesBeside } from './messages';
import { StatusItem } from './statusBar';

/** Whether jobs ran when the page was last there. */
const ACTIVE = 'jupyter-paddle-gpu:active';

export interface IPlaces {
  app: JupyterFrontEnd;
  model: PanelModel;
  panel: PanelWidget;
  notebooks: INotebookTracker;
  trans: TranslationBundle;
  state: IStateDB | null;
  toolbars: IToolbarWidgetRegistry | null;
  launcher: ILauncher | null;
  statusBar: IStatusBar | null;
  /** Whether the panel may open by itself. */
  opensOnce: () => boolean;
}

export function addPlaces(places: IPlaces): void {
  const { app, model, panel, trans, state, toolbars, launcher, statusBar } = places;

  // The button knows its notebook: with two side by side the other one may have the focus.
  toolbars?.addFactory<NotebookPanel>(
    'Notebook',
    'paddle-gpu-submit',
    notebook =>
      new CommandToolbarButton({
        commands: app.commands,
        id: CommandIDs.submit,
        args: { toolbar: true, notebook: notebook.id },
        icon: paddleGpuIcon,
        label: trans.__('Submit training')
      })
  );

  launcher?.add({ command: CommandIDs.openPanel, category: trans.__('Other'), rank: 50 });

  if (statusBar) {
    const item = new StatusItem(model, trans, () => app.shell.activateById(panel.id));
    statusBar.registerStatusItem('jupyter-paddle-gpu:status', {
      item,
      align: 'left',
      rank: 90,
      isActive: () => item.isActive,
      activeStateChanged: item.activeChanged
    });
    // Nobody has looked yet after a reload, and what ran is told of all the same.
    const note = () => state?.save(ACTIVE, item.isActive);
    item.activeChanged.connect(() => void note());
    void Promise.all([state?.fetch(ACTIVE), app.restored])
      .then(async ([wasActive]) => {
        if (wasActive) {
          await model.jobs.refresh();
          await note();
        }
      })
      .catch(() => undefined);
  }

  // eslint-disable-next-line jupyter/require-disposable-ownership -- it lives as long as the page
  new FailureBadge(panel, model.jobs, trans);
  keepMessagesBeside(panel);
  // JupyterLab lays the sidebars out after it has told them that they are shown.
  let wasSeen = false;
  panel.seen.connect(() => {
    if (!wasSeen) {
      wasSeen = true;
      requestAnimationFrame(() => widen(panel, LEAST));
    }
    void onceEver(state, 'widened', () => requestAnimationFrame(() => widen(panel, NARROW)));
  });

  const look = () => {
    const notebook = places.notebooks.currentWidget;
    void Promise.all([app.restored, notebook?.context.ready]).then(() => {
      const cells = [...(notebook?.content.model?.cells ?? [])];
      const uses = cells.some(
        cell => cell.type === 'code' && importsPaddle(cell.sharedModel.getSource())
      );
      if (uses && places.opensOnce() && !panel.isVisible) {
        void onceEver(state, 'opened', () => app.shell.activateById(panel.id));
      }
    });
  };
  places.notebooks.currentChanged.connect(look);
  look();
}
