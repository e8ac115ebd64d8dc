/** What is open in the main area, known from JupyterLab's start on: it restores tabs before anything in them is read. */

import type { ILayoutRestorer } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import type { PanelWidget } from './panelWidget';
import { CommandIDs } from './tokens';
import type { JobsWidget, JobWidget, ViewerFrame } from './widgets';

export class Trackers {
  readonly jobs = new WidgetTracker<MainAreaWidget<JobWidget>>({
    namespace: 'jupyter-paddle-gpu-jobs'
  });
  /** The page of all jobs. */
  readonly pages = new WidgetTracker<MainAreaWidget<JobsWidget>>({
    namespace: 'jupyter-paddle-gpu-jobs-page'
  });
  readonly viewers = new WidgetTracker<MainAreaWidget<ViewerFrame>>({
    namespace: 'jupyter-paddle-gpu-viewers'
  });
  readonly panels = new WidgetTracker<MainAreaWidget<PanelWidget>>({
    namespace: 'jupyter-paddle-gpu-panels'
  });

  /** The panel as a tab, where it is one. */
  get panel(): MainAreaWidget<PanelWidget> | null {
    const tab = this.panels.currentWidget;
    return tab && !tab.isDisposed ? tab : null;
  }

  /** Open the tabs anew that were open before a reload. */
  restore(restorer: ILayoutRestorer): void {
    void restorer.restore(this.jobs, {
      command: CommandIDs.openJob,
      args: ({ content }) => ({ id: content.model.id, tab: content.model.tab }),
      name: tab => tab.content.model.id
    });
    void restorer.restore(this.viewers, {
      command: CommandIDs.openViewer,
      args: ({ content }) => ({ id: content.job, viewer: content.viewer }),
      name: ({ content }) => `${content.viewer}-${content.job}`
    });
    void restorer.restore(this.pages, { command: CommandIDs.openJobs, name: () => 'jobs' });
    void restorer.restore(this.panels, {
      command: CommandIDs.openPanel,
      args: () => ({ mode: 'main' }),
      name: () => 'panel'
    });
  }
}

/** A tab of the main area. */
export function tabOf<T extends Widget>(
  content: T,
  id = `${content.id}-tab`
): MainAreaWidget<T> {
  const tab = new MainAreaWidget({ content });
  tab.id = id;
  tab.toolbar.hide();
  return tab;
}
