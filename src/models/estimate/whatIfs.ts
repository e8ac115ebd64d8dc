/** What was asked for instead of the notebook's own: each what-if in words, and how it is taken back. */

import type { IEstimate, IEstimateRequest, INotebookFacts, IWhatIf, Value } from '../../domain';
import { plain } from '../../format';

/** What is known of a notebook, as far as what-ifs are concerned. */
export interface IAsking {
  readonly request: IEstimateRequest;
  readonly facts: INotebookFacts | null;
  /** The server's table. */
  readonly whatIfs: readonly IWhatIf[];
}

/** One thing that is asked for. */
export interface IAsked {
  label: string;
  /** What has to be asked for without it. */
  undo: IEstimateRequest;
  /** It answers a question of the notebook. */
  isAnswer: boolean;
  /** A job is run with it too; all others are of the estimate alone. */
  inJobs: boolean;
}

/** All that is asked for, what-ifs in the table's order before answers. */
export function askedFor({ request, facts, whatIfs }: IAsking): IAsked[] {
  const { answers = {} } = request;
  const overrides = whatIfs.flatMap(whatIf => {
    const value = valueOf(request, whatIf.name);
    const isNew = value !== null && value !== factOf(facts, whatIf.name);
    const label = isNew ? inWords(whatIf, inParts(request, whatIf, value)) : '';
    return label
      ? [{ label, undo: undoOf(whatIf, whatIfs), isAnswer: false, inJobs: whatIf.in_jobs }]
      : [];
  });
  const answered = Object.entries(answers).map(([name, value]) => ({
    label: `${name} = ${String(value)}`,
    undo: {
      answers: Object.fromEntries(Object.entries(answers).filter(([key]) => key !== name))
    },
    isAnswer: true,
    inJobs: true
  }));
  return [...overrides, ...answered];
}

/** A batch that is summed over several steps as it runs: `32 × 4` for 128 samples an update. */
function inParts({ accumulation }: IEstimateRequest, { name }: IWhatIf, value: Value): Value {
  return name === 'batch_size' && accumulation && accumulation > 1
    ? `${Math.floor(Number(value) / accumulation)} × ${accumulation}`
    : value;
}

/** What of a what-if is asked for; null where nothing is. */
export function valueOf(request: IEstimateRequest, name: string): Value {
  return (request as Record<string, Value | undefined>)[name] ?? null;
}

/** What the notebook has, as far as the last estimate tells; empty where it does not. */
export function ownValue(estimate: IEstimate, name: string): string {
  const value = (estimate as unknown as Record<string, Value | Value[] | undefined>)[name];
  return String((Array.isArray(value) ? value[0] : value) ?? '');
}

/** Whether a what-if makes sense for a training. */
export function applies(whatIf: IWhatIf, asking: IAsking, estimate: IEstimate): boolean {
  return (
    !whatIf.if_known ||
    ownValue(estimate, whatIf.name) !== '' ||
    valueOf(asking.request, whatIf.name) !== null ||
    isInFacts(whatIf, asking.facts)
  );
}

/** Whether the notebook's code says that a what-if makes sense. */
export function isInFacts(whatIf: IWhatIf, facts: INotebookFacts | null): boolean {
  const value = factOf(facts, whatIf.fact);
  return !!value && value !== 'none';
}

function factOf(facts: INotebookFacts | null, name: string): Value {
  const fact = (facts as Record<string, { value?: Value } | null> | null)?.[name];
  return fact?.value ?? null;
}

function inWords({ asked, choices }: IWhatIf, value: Value): string {
  const choice = choices.find(one => one.value === value);
  return choice ? choice.asked : asked.replace(/\{value\}/g, plain(value));
}

/** Nothing of a what-if, and nothing of those that say nothing without it. */
function undoOf({ name }: IWhatIf, whatIfs: readonly IWhatIf[]): IEstimateRequest {
  const followers = whatIfs.filter(({ follows }) => follows === name);
  return Object.fromEntries([name, ...followers.map(one => one.name)].map(one => [one, null]));
}
