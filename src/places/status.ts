/** Puts what runs into the status bar, also after a reload. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IStateDB } from '@jupyterlab/statedb';
import type { IStatusBar } from '@jupyterlab/statusbar';

import type { IApp } from '../components/common/context';
import { ACTIVE } from '../models/notebook/kept';
import type { PanelModel } from '../models/panel';
import type { PanelWidget } from '../panelWidget';
import { StatusItem } from './statusBar';

export interface IStatus {
  app: JupyterFrontEnd;
  context: IApp;
  model: PanelModel;
  panel: PanelWidget;
  state: IStateDB | null;
  statusBar: IStatusBar | null;
}

export function addStatus({ app, context, model, panel, state, statusBar }: IStatus): void {
  if (!statusBar) {
    return;
  }
  const item = new StatusItem(model, context.trans, () => app.shell.activateById(panel.id));
  statusBar.registerStatusItem('jupyter-paddle-gpu:status', {
    item,
    align: 'left',
    rank: 90,
    isActive: () => item.isActive,
    activeStateChanged: item.activeChanged
  });
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
