/** Puts what runs into the status bar. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IStatusBar } from '@jupyterlab/statusbar';

import type { IApp } from '../components/common/context';
import type { PanelModel } from '../models/panel';
import type { PanelWidget } from '../panelWidget';
import { StatusItem } from './statusBar';

export interface IStatus {
  app: JupyterFrontEnd;
  context: IApp;
  model: PanelModel;
  panel: PanelWidget;
  statusBar: IStatusBar | null;
}

export function addStatus({ app, context, model, panel, statusBar }: IStatus): void {
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
}
