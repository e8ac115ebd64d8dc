/** The submit dialog: pool, devices, image, limits, environment, data, and what becomes of the result. */

import { Dialog } from '@jupyterlab/apputils';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ApiError } from '../../api';
import type { IImageChoice, IMessage, IQueueView, IReceiver, IVariable } from '../../domain';
import { AS_USUAL, type IChoice } from '../../models/submit/choice';
import type { PanelModel } from '../../models/panel';
import { type IPlanChoice, NOW, spaceOf, whenOf } from '../../models/plans/planChoice';
import { Planner } from '../../models/plans/plans';
import { runsOf, sweepFields, trialsOf } from '../../models/plans/values';
import type { Training } from '../../models/estimate/training';
import { CommandIDs } from '../../tokens';
import { AppProvider, type IApp } from '../common/context';
import { FormDialog } from '../common/formDialog';
import { PlanForm } from '../plans/planForm';
import { startTrials } from '../plans/sweepOptions';
import { ChoiceForm } from './choiceForm';

/** Ask what is to be otherwise; answers once the dialog is closed. */
export async function changeSubmission(
  app: IApp,
  model: PanelModel,
  training: Training
): Promise<void> {
  let plan = NOW;
  for (;;) {
    const asked = await ask(app, model, training, plan);
    if (!asked) {
      return;
    }
    try {
      await submit(app, training, asked);
      return;
    } catch (error) {
      plan = { ...asked.plan, error: error as ApiError };
    }
  }
}

interface IAsked {
  plan: IPlanChoice;
  planner: Planner;
  variables: readonly IVariable[];
}

/** Show the dialog and keep what was chosen; answers the plan where it is to be submitted. */
async function ask(
  app: IApp,
  model: PanelModel,
  training: Training,
  plan: IPlanChoice
): Promise<IAsked | null> {
  const { trans } = app;
  const body = new ChoiceBody(app, model, training, plan);
  const name = training.source.name;
  const dialog = new FormDialog<IChoice>({
    title: trans.__('Submit %1', name),
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.createButton({
        label: trans.__('As usual'),
        accept: false, // whatever stands in the fields
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
  body.named = label => dialog.nameAccept(label);
  const { button, value } = await dialog.launch();
  const isUsual = button.actions.includes('reset');
  if (!button.accept && !isUsual && !button.actions.includes('keep')) {
    return null;
  }
  const choice = isUsual ? AS_USUAL : value;
  if (choice) {
    training.choose(choice);
  }
  return isUsual || button.actions.includes('keep') ? null : body.asked;
}

/** Run it now, later, or with several values. Throws `ApiError` where a plan is refused. */
async function submit(app: IApp, training: Training, asked: IAsked): Promise<void> {
  const { commands } = app;
  const { plan, planner, variables } = asked;
  const { notebook, submission } = training.submission.wanted;
  const when = whenOf(plan);
  const space = when ? null : spaceOf(plan, variables);
  if (when) {
    await planner.schedule(notebook, submission, when);
    await commands.execute(CommandIDs.openJobs);
  } else if (space) {
    const body = { ...notebook, ...submission, space, ...sweepFields(plan.sweep) };
    const sweep = await planner.begin(body);
    await commands.execute(CommandIDs.openJobs, { sweep: sweep.id });
  } else {
    await commands.execute(CommandIDs.submit, { shown: true });
  }
}

/** The form in a widget, as the dialog wants it. */
class ChoiceBody extends ReactWidget implements Dialog.IBodyWidget<IChoice> {
  constructor(
    private readonly _app: IApp,
    private readonly _model: PanelModel,
    private readonly _training: Training,
    private _plan: IPlanChoice
  ) {
    super();
    this._planner = new Planner(_model.api);
    this.addClass('jp-PaddleGpu');
    this._choice = _training.submission.choice;
    // Engines and devices may come after the dialog.
    _model.changed.connect(this.update, this);
    void this._readImages();
    void this._readReceivers();
    void this._readQueue();
    void this._readPlans();
  }

  /** Told what the button that submits is called now. */
  named: (label: string) => void = () => undefined;

  get asked(): IAsked {
    return { plan: this._plan, planner: this._planner, variables: this._variables };
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
          names={this._names}
          receivers={this._receivers}
          queue={this._queue}
          choose={choice => {
            this._choice = choice;
            this.update();
          }}
        />
        <div className="jp-PaddleGpu-choices">
          <PlanForm
            plan={this._plan}
            planner={this._planner}
            devices={this._model.inventory?.devices ?? []}
            variables={this._variables}
            noCost={this._noCost}
            change={change => {
              this._plan = { ...this._plan, error: null, ...change };
              this._name();
              this.update();
            }}
          />
        </div>
      </AppProvider>
    );
  }

  private _name(): void {
    const { trans } = this._app;
    const { sweep } = this._plan;
    const space = whenOf(this._plan) ? null : spaceOf(this._plan, this._variables);
    this.named(
      space
        ? startTrials(trialsOf(sweep, runsOf(Object.values(space))), trans)
        : trans.__('Submit')
    );
  }

  private async _readImages(): Promise<void> {
    try {
      const { api } = this._model;
      const [images, names] = await Promise.all([
        api.images<IImageChoice>('images'),
        api.images<string>('images/names').catch(() => [])
      ]);
      const known = new Set(images.map(({ reference }) => reference));
      [this._images, this._names] = [images, names.filter(name => !known.has(name))];
      this.update();
    } catch {
      // The best one is taken by itself.
    }
  }

  private async _readReceivers(): Promise<void> {
    try {
      this._receivers = await this._model.api.receivers();
      this.update();
    } catch {
      // Those whom the policy names are told.
    }
  }

  private async _readQueue(): Promise<void> {
    try {
      this._queue = await this._model.api.queue();
      this.update();
    } catch {
      // What the policy gives is said when the job waits, too.
    }
  }

  private async _readPlans(): Promise<void> {
    const { notebook } = this._training.submission.wanted;
    [this._variables, this._noCost] = await Promise.all([
      this._planner.variables(notebook).catch(() => []),
      this._planner.noCost().catch(() => null)
    ]);
    this._name();
    this.update();
  }

  private readonly _planner: Planner;
  private _variables: readonly IVariable[] = [];
  private _noCost: IMessage | null = null;
  private _choice: IChoice;
  private _receivers: readonly IReceiver[] = [];
  private _images: readonly IImageChoice[] = [];
  private _names: readonly string[] = [];
  private _queue: IQueueView | null = null;
}
