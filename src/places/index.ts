/** Where JupyterLab shows us besides the panel: toolbar, launcher, the first look; the status bar once jobs are known. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { CommandToolbarButton, type IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';

import { paddleGpuIcon } from '../icons';
import { key } from '../models/notebook/kept';
import type { PanelWidget } from '../panelWidget';
import { CommandIDs } from '../tokens';
import { importsPaddle, LEAST, NARROW, onceEver, widen } from './firstLook';
import { onceSeen } from './start';

export interface IPlaces {
  app: JupyterFrontEnd;
  panel: PanelWidget;
  notebooks: INotebookTracker;
  trans: TranslationBundle;
  state: IStateDB | null;
  toolbars: IToolbarWidgetRegistry | null;
  launcher: ILauncher | null;
  /** Whether the panel may open by itself. */
  opensOnce: () => boolean;
  /** Whether the cell that trains wears what is known of it. */
  hasBadge: () => boolean;
  /** Read the models, as something has to be told of. */
  load: () => void;
}

export function addPlaces(places: IPlaces): void {
  const { app, panel, trans, state, toolbars, launcher, notebooks } = places;

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

  // JupyterLab lays the sidebars out after it has told them that they are shown.
  let wasSeen = false;
  panel.seen.connect(() => {
    if (!wasSeen) {
      wasSeen = true;
      requestAnimationFrame(() => widen(panel, LEAST));
    }
    void onceEver(state, 'widened', () => requestAnimationFrame(() => widen(panel, NARROW)));
  });

  void onceSeen(state, app.restored, places.load);

  const look = async () => {
    const notebook = notebooks.currentWidget;
    await Promise.all([app.restored, notebook?.context.ready]);
    if (!notebook || notebook.isDisposed) {
      return;
    }
    const cells = [...(notebook.content.model?.cells ?? [])];
    const uses = cells.some(
      cell => cell.type === 'code' && importsPaddle(cell.sharedModel.getSource())
    );
    if (uses && places.opensOnce() && !panel.isVisible) {
      void onceEver(state, 'opened', () => app.shell.activateById(panel.id));
    }
    if (places.hasBadge() && (await state?.fetch(key(notebook.context.path)))) {
      places.load();
    }
  };
  const onNotebook = () => void look().catch(() => undefined);
  notebooks.currentChanged.connect(onNotebook);
  onNotebook();
}
