/** What an estimate is asked for: the notebook as it is, or with changes. */

import type { IChanges, IEstimateRequest, IWhatIf } from '../../domain';

/** What a request may have without asking for something else than the notebook does. */
const AS_IN_THE_NOTEBOOK = new Set([
  'answers',
  'target',
  'device',
  'training',
  'details',
  'details_seconds'
]);

/** The request without what was taken back. */
export function asked(request: IEstimateRequest): IEstimateRequest {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
}

/** Whether something else is asked for than the notebook has; an answer to a question is its own. */
export function hasOthers(request: IEstimateRequest): boolean {
  return Object.keys(asked(request)).some(name => !AS_IN_THE_NOTEBOOK.has(name));
}

/** What is still asked for once the notebook itself has these changes. */
export function behindChanges(
  request: IEstimateRequest,
  { refused }: IChanges,
  whatIfs: readonly IWhatIf[]
): IEstimateRequest {
  const unmade = new Set(refused.map(({ change }) => change));
  const kept = whatIfs.filter(({ in_jobs, name }) => !in_jobs || unmade.has(name));
  const names = new Set(['answers', 'target', 'device', ...kept.map(({ name }) => name)]);
  return Object.fromEntries(Object.entries(request).filter(([name]) => names.has(name)));
}
