/** Asks what a job is to have otherwise and runs it so; a refusal is told in the form, which is then shown again. */

import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import * as React from 'react';

import type { ApiError } from '../../api';
import type { IJob } from '../../domain';
import type { Jobs } from '../../models/jobs/jobs';
import { RerunForm as Model } from '../../models/jobs/rerun';
import { AppProvider, type IApp } from '../common/context';
import { RerunForm } from './form';

/** The new job; null where it was given up. */
export async function rerunWith(
  app: IApp,
  jobs: Jobs,
  job: IJob,
  devices: number
): Promise<IJob | null> {
  const { trans } = app;
  const model = new Model(job);
  for (;;) {
    const body = ReactWidget.create(
      <AppProvider value={app}>
        <RerunForm model={model} devices={devices} />
      </AppProvider>
    );
    body.addClass('jp-PaddleGpu');
    body.addClass('jp-PaddleGpu-dialog');
    const dialog = new Dialog({
      title: trans.__('Re-run %1', job.spec.name),
      body,
      focusNodeSelector: 'input',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Run') })
      ]
    });
    const { button } = await dialog.launch();
    if (!button.accept) {
      return null;
    }
    if (model.wrong.length) {
      continue;
    }
    try {
      return await jobs.rerunWith(job.id, model.wanted());
    } catch (error) {
      model.error = error as ApiError;
    }
  }
}
