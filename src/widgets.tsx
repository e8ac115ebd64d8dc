/** The pages of jobs as JupyterLab's shell holds them; everything in them is drawn by components. */

import { IFrame, ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { IDisposable } from '@lumino/disposable';
import * as React from 'react';

import { AppProvider, type IApp } from './components/common/context';
import { focusHeading } from './components/common/keptFocus';
import { whenOpened } from './components/common/opened';
import type { Registry } from './components/job/executed';
import type { OpenFile, OpenNotebook } from './components/job/jobPage';
import { stateName } from './components/jobs/words';
import { paddleGpuIcon } from './icons';
import type { EventStream } from './events';
import type { JobsPage } from './models/jobs/jobsPage';
import type { JobView } from './models/job/jobView';
import { jobTitle } from './models/jobs/runs';
import { pageOf } from './places/inView';

const JobPage = whenOpened(async () => (await import('./pages')).JobPage);
const JobsPageComponent = whenOpened(async () => (await import('./pages')).JobsPage);

/** What stands in a tab of its own. */
abstract class Page extends ReactWidget {
  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    focusHeading(this.node);
  }
}

/** One job. */
export class JobWidget extends Page {
  constructor(
    private readonly _app: IApp,
    readonly model: JobView,
    private readonly _registry: Registry,
    private readonly _openNotebook: OpenNotebook,
    private readonly _openFile: OpenFile
  ) {
    super();
    this.id = pageOf(model.id);
    this.addClass('jp-PaddleGpu');
    this.addClass('jp-PaddleGpu-sized');
    this.title.icon = paddleGpuIcon;
    this.title.closable = true;
    this._name();
    model.jobs.changed.connect(this._name, this);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.model.jobs.changed.disconnect(this._name, this);
      super.dispose();
      this.model.dispose();
    }
  }

  protected render(): JSX.Element {
    return (
      <AppProvider value={this._app}>
        <JobPage
          model={this.model}
          registry={this._registry}
          openNotebook={this._openNotebook}
          openFile={this._openFile}
        />
      </AppProvider>
    );
  }

  private _name(): void {
    const { trans, language } = this._app;
    const { job, jobs } = this.model;
    const name = job
      ? jobTitle(job, trans, language, jobs.moment(job, language))
      : trans.__('Job');
    this.title.label = name;
    // A tab hardly shows the whole name.
    this.title.caption = job
      ? `${name} · ${stateName(job.state, trans, job.result?.program_status)}\n${job.spec.notebook}`
      : '';
  }
}

/** Another project's page on a job's curves. */
export class ViewerFrame extends IFrame {
  constructor(
    readonly job: string,
    readonly viewer: string
  ) {
    super({
      sandbox: ['allow-same-origin', 'allow-scripts', 'allow-downloads', 'allow-forms']
    });
  }
}

/** All jobs. It listens to the server only while it is seen. */
export class JobsWidget extends Page {
  constructor(
    private readonly _app: IApp,
    private readonly _events: EventStream,
    readonly model: JobsPage
  ) {
    super();
    this.id = 'jp-PaddleGpu-jobsPage';
    this.addClass('jp-PaddleGpu');
    this.addClass('jp-PaddleGpu-sized');
    this.title.icon = paddleGpuIcon;
    this.title.closable = true;
    this.title.label = _app.trans.__('Jobs');
    this.title.caption = _app.trans.__('Paddle GPU: all runs side by side');
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._watch?.dispose();
      super.dispose();
      this.model.dispose();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._watch ??= this._events.watch('jobs');
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this._watch ??= this._events.watch('jobs');
    }
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this._watch?.dispose();
    this._watch = null;
  }

  protected render(): JSX.Element {
    return (
      <AppProvider value={this._app}>
        <JobsPageComponent model={this.model} events={this._events} />
      </AppProvider>
    );
  }

  private _watch: IDisposable | null = null;
}
