/** Asks what a job is to have otherwise and runs it so; a refusal is told in the form, which is then shown again. */

import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import * as React from 'react';

import type { ApiError } from '../../api';
import type { IJob, ISweep } from '../../domain';
import type { Jobs } from '../../models/jobs/jobs';
import type { Planner } from '../../models/plans/plans';
import { trialsOf } from '../../models/plans/values';
import { RerunForm as Model } from '../../models/jobs/rerun';
import { AppProvider, type IApp } from '../common/context';
import { FormDialog } from '../common/formDialog';
import { startTrials } from '../plans/sweepOptions';
import { RerunForm } from './form';

/** The new job or sweep; null where it was given up. */
export async function rerunWith(
  app: IApp,
  jobs: Jobs,
  planner: Planner,
  job: IJob,
  devices: number
): Promise<IJob | ISweep | null> {
  const { trans } = app;
  const model = new Model(job);
  for (;;) {
    const body = ReactWidget.create(
      <AppProvider value={app}>
        <RerunForm model={model} devices={devices} />
      </AppProvider>
    );
    body.addClass('jp-PaddleGpu');
    const dialog = new FormDialog({
      title: trans.__('Re-run %1', job.spec.name),
      body,
      focusNodeSelector: 'input',
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Re-run') })
      ]
    });
    const name = () =>
      dialog.nameAccept(
        model.isSweep
          ? startTrials(trialsOf(model.sweep, model.runs), trans)
          : trans.__('Re-run')
      );
    name();
    model.changed.connect(name);
    const { button } = await dialog.launch();
    model.changed.disconnect(name);
    if (!button.accept) {
      return null;
    }
    if (model.wrong.length || model.strayLines.length) {
      continue;
    }
    try {
      return model.isSweep
        ? await planner.begin(model.sweepBody())
        : await jobs.rerunWith(job.id, model.wanted());
    } catch (error) {
      model.error = error as ApiError;
    }
  }
}
