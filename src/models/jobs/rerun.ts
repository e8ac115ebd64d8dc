/** What a job is to have otherwise when it is run again, as a form holds it. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { ApiError } from '../../api';
import type { IJob, IRerun, ISweepBody, IVariable, Value } from '../../domain';
import { parseEnvironment, strayLines, writeEnvironment } from '../submit/choice';
import {
  type ISweepChoice,
  isSeveral,
  runsOf,
  sweepFields,
  USUAL_SWEEP
} from '../plans/values';

/** A variable of the notebook, and what is typed for it. */
export interface IField {
  variable: IVariable;
  /** As it stands in the form. */
  text: string;
}

export class RerunForm {
  constructor(readonly job: IJob) {
    const { variables } = job.spec.settings;
    this.fields = variables
      .filter(({ name, role }) => name || role === 'batch_size')
      .map(variable => ({ variable, text: written(variable.value) }));
    this.environment = writeEnvironment(
      Object.fromEntries(
        Object.entries(job.spec.environment).filter(([name]) => !(name in job.spec.sets))
      )
    );
    this._environment = this.environment;
  }

  readonly fields: IField[];
  /** Number of devices; empty: as the job had. */
  gpus = '';
  /** Mixed precision; empty: as in the notebook. */
  amp: '' | 'off' | 'O1' | 'O2' = '';
  /** `NAME=value`, one a line. */
  environment: string;
  /** How several values are gone through. */
  sweep: ISweepChoice = USUAL_SWEEP;
  /** Why the last try was refused; null after none. */
  error: ApiError | null = null;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Take something that was typed. */
  update(change: () => void): void {
    this.error = null;
    change();
    this._changed.emit();
  }

  /** Fields whose text is no value of their kind. */
  get wrong(): readonly IField[] {
    return this.fields.filter(field => !isMany(field) && valueOf(field) === undefined);
  }

  /** Lines of the environment that are none. */
  get strayLines(): readonly string[] {
    return strayLines(this.environment);
  }

  /** By name what is typed for those that have several values: then it is a sweep. */
  get space(): Record<string, string> {
    return Object.fromEntries(
      this.fields
        .filter(isMany)
        .map(({ variable, text }) => [variable.name || variable.role, text])
    );
  }

  get isSweep(): boolean {
    return this.fields.some(isMany);
  }

  /** How many runs a grid of what is typed has; null where that is open. */
  get runs(): number | null {
    return runsOf(Object.values(this.space));
  }

  /** The sweep that the server is asked for: single values stand in it beside the lists. */
  sweepBody(): ISweepBody {
    const { values = {}, ...rest } = this.wanted();
    const fixed = Object.entries(values).map(([name, value]) => [name, [value]] as const);
    return {
      job: this.job.id,
      space: { ...this.space, ...Object.fromEntries(fixed) },
      ...sweepFields(this.sweep),
      ...rest
    } as ISweepBody;
  }

  /** Whether anything is to be otherwise. */
  get isChanged(): boolean {
    return this.isSweep || Object.keys(this.wanted()).length > 0;
  }

  /** What the server is asked for; only what is otherwise. */
  wanted(): IRerun {
    const values: Record<string, Value> = {};
    let batch: number | undefined;
    for (const field of this.fields) {
      const { variable } = field;
      if (isMany(field)) {
        continue;
      }
      const value = valueOf(field);
      if (value !== undefined && value !== variable.value) {
        if (variable.name) {
          values[variable.name] = value;
        } else {
          batch = Number(value);
        }
      }
    }
    const request = {
      ...(batch === undefined ? {} : { batch_size: batch }),
      ...(this.amp ? { amp: this.amp } : {})
    };
    return {
      ...(Object.keys(values).length ? { values } : {}),
      ...(Object.keys(request).length ? { request } : {}),
      ...(this.gpus === '' ? {} : { resources: { gpus: Number(this.gpus) } }),
      ...(this.environment === this._environment
        ? {}
        : { environment: parseEnvironment(this.environment) })
    };
  }

  private readonly _environment: string;
  private readonly _changed = new Signal<this, void>(this);
}

/** Whether a list or a range is typed. */
export function isMany({ variable, text }: IField): boolean {
  return isSeveral(text, variable.value);
}

/** A value as one would type it. */
function written(value: Value): string {
  return value === null ? '' : String(value);
}

/** Whether whole numbers from 1 on alone make sense: none of a batch of 0 is ever trained. */
export function isCount({ role }: IVariable): boolean {
  return role === 'batch_size' || role === 'epochs';
}

/** The value that is typed, of the kind that the variable has; undefined where it is none. */
export function valueOf({ variable, text }: IField): Value | undefined {
  const typed = text.trim();
  switch (typeof variable.value) {
    case 'number': {
      const number = Number(typed);
      const isOne = typed && Number.isFinite(number);
      return isOne && (!isCount(variable) || (Number.isInteger(number) && number > 0))
        ? number
        : undefined;
    }
    case 'boolean':
      return typed === 'true';
    default:
      return text;
  }
}
