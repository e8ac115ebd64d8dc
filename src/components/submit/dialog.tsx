/** The submit dialogue: pool, devices, image, limits, environment, data, and what becomes of the result. */

import { Dialog } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { IImageChoice } from '../../domain';
import { AS_USUAL, type IChoice } from '../../models/submit/choice';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { CommandIDs } from '../../tokens';
import { AppProvider, type IApp } from '../common/context';
import { ChoiceForm } from './choiceForm';

/** Ask what is to be otherwise; answers once the dialogue is closed. */
export async function changeSubmission(
  app: IApp,
  model: PanelModel,
  training: Training
): Promise<void> {
  const { trans } = app;
  const body = new ChoiceBody(app, model, training);
  const name = training.source.name;
  const dialog = new Dialog<IChoice>({
    title: trans.__('Submit %1', name),
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.createButton({
        label: trans.__('As usual'),
        actions: ['reset'],
        className: 'jp-mod-reject'
      }),
      Dialog.createButton({
        label: trans.__('Keep'),
        actions: ['keep'],
        className: 'jp-mod-reject'
      }),
      Dialog.okButton({ label: trans.__('Submit') })
    ],
    defaultButton: 3
  });
  dialog.addClass('jp-PaddleGpu-dialog');
  const { button, value } = await dialog.launch();
  const isUsual = button.actions.includes('reset');
  if (!button.accept && !isUsual && !button.actions.includes('keep')) {
    return;
  }
  const choice = isUsual ? AS_USUAL : value;
  if (choice) {
    training.choose(choice);
  }
  if (!isUsual && !button.actions.includes('keep')) {
    await app.commands.execute(CommandIDs.submit, { shown: true });
  }
}

/** The form in a widget, as the dialogue wants it. */
class ChoiceBody extends ReactWidget implements Dialog.IBodyWidget<IChoice> {
  constructor(
    private readonly _app: IApp,
    private readonly _model: PanelModel,
    private readonly _training: Training
  ) {
    super();
    this.addClass('jp-PaddleGpu');
    this._choice = _training.submission.choice;
    void this._readImages();
  }

  getValue(): IChoice {
    return this._choice;
  }

  protected render(): JSX.Element {
    return (
      <AppProvider value={this._app}>
        <ChoiceForm
          model={this._model}
          training={this._training}
          choice={this._choice}
          images={this._images}
          choose={choice => {
            this._choice = choice;
            this.update();
          }}
        />
      </AppProvider>
    );
  }

  private async _readImages(): Promise<void> {
    try {
      this._images = await this._model.api.images();
      this.update();
    } catch {
      // The best one is taken by itself.
    }
  }

  private _choice: IChoice;
  private _images: readonly IImageChoice[] = [];
}
