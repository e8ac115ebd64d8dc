/** What would become of a submit, and the submit itself: the choice, what hinders it, what its copy has otherwise. */

import { UUID } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';

import { type Api, type ApiError, type INotebookBody, lasting } from '../../api';
import type {
  IChanges,
  IDecision,
  IEstimateRequest,
  IJob,
  IMessage,
  IPreflight,
  ISubmission
} from '../../domain';
import { AS_USUAL, type IChoice, submissionOf } from './choice';
import type { INotebookSource } from '../notebook/notebook';

/** What is submitted, and what was asked of its estimate. */
export interface ISubmitted {
  source(): INotebookSource;
  asked(): IEstimateRequest;
}

export class Submission {
  constructor(
    private readonly _api: Api,
    private readonly _of: ISubmitted
  ) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  choice: IChoice = AS_USUAL;
  error: ApiError | null = null;
  /** What a submit would be refused with, as of the last match or choice. */
  hindrances: IMessage[] = [];
  /** What the job's copy has otherwise than the notebook; null where nothing was asked for. */
  changes: IChanges | null = null;
  /** What becomes of the job as it will run, as of the last match or choice; null: nobody can say. */
  decision: IDecision | null = null;
  isSubmitting = false;

  /** Take another choice; what was said of the one before does not hold for it. */
  choose(choice: Partial<IChoice>): void {
    this.choice = { ...this.choice, ...choice };
    this.error = null;
    this.hindrances = [];
    this.decision = null;
    this._changed.emit();
  }

  /** Ask what a submit would be refused with, before somebody tries. */
  async preflight(): Promise<void> {
    const run = ++this._preflights;
    let found: IPreflight = { problems: [], notes: [], decision: null };
    try {
      found = await this._api.preflight(this._of.source().body(), this._wanted());
    } catch {
      // The submit itself will say it.
    }
    if (run === this._preflights) {
      this.hindrances = [...found.problems, ...found.notes];
      this.decision = found.decision;
      this._changed.emit();
    }
  }

  /** Ask what a job has otherwise than the notebook, before it is submitted. */
  async compare(): Promise<void> {
    const run = ++this._compares;
    let found: IChanges | null = null;
    try {
      found = Object.keys(this._of.asked()).length
        ? await this._api.changes(this._of.source().body(), this._wanted())
        : null;
    } catch {
      // The submit itself will say it.
    }
    if (run === this._compares) {
      this.changes = found;
      this._changed.emit();
    }
  }

  /** Submit the notebook as it is on the screen; `anyway`: though it will not fit. */
  async submit(anyway = false): Promise<IJob | null> {
    if (this.isSubmitting) {
      return null;
    }
    this.isSubmitting = true;
    this.error = null;
    this.hindrances = [];
    this._changed.emit();
    try {
      return await this._api.submit(this._of.source().body(), {
        token: UUID.uuid4(),
        ...this._wanted(),
        ...(anyway ? { anyway } : {})
      });
    } catch (reason) {
      this.error = reason as ApiError;
      void this.preflight(); // what would lead to a job
      return null;
    } finally {
      this.isSubmitting = false;
      this._changed.emit();
    }
  }

  /** The server is back: what failed only for want of it is not a failure any more. */
  recover(): void {
    this.error = lasting(this.error);
  }

  dispose(): void {
    this._preflights = this._compares = NaN;
    Signal.clearData(this);
  }

  /** What is submitted, to be run later or several times. */
  get wanted(): { notebook: INotebookBody; submission: ISubmission } {
    return { notebook: this._of.source().body(), submission: this._wanted() };
  }

  /** What was chosen for the job. */
  private _wanted(): ISubmission {
    return { request: this._of.asked(), ...submissionOf(this.choice) };
  }

  private _preflights = 0;
  private _compares = 0;
  private readonly _changed = new Signal<this, void>(this);
}
