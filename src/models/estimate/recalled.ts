/** An estimate beside the one before it, and beside the page that is loaded anew. */

import type { IEstimate, IMatched, IPlacement } from '../../domain';
import type { IRemembered } from '../notebook/remembered';
import { otherwise } from '../submit/choice';
import type { Training } from './training';

/** What is to be kept of a training over a reload; `code` is that which its estimate is of. */
export function remembered(training: Training, code: string, language: string): IRemembered {
  const { facts, estimate, placement, request, models, submission } = training;
  const isWhole = facts && placement && estimate?.status === 'ok' && !models.chosen;
  return {
    code,
    language,
    request,
    choice: otherwise(submission.choice),
    matched: isWhole ? { facts, estimate, placement } : null,
    time: Date.now()
  };
}

/** What was kept; in another language than the page has now its figures alone, as the server's sentences are in the old one. */
export function saidIn(
  language: string,
  { matched, language: before }: IRemembered
): (Pick<IMatched, 'estimate'> & { placement: IPlacement | null }) | null {
  return matched && before !== undefined && before !== language
    ? { estimate: { ...matched.estimate, notes: [], remedies: [] }, placement: null }
    : matched;
}

/** What helped before helps until it is computed anew, where the figure is the same. */
export function keptRemedies(before: IEstimate | null, now: IEstimate): IEstimate['remedies'] {
  const isSame =
    before?.allocated_peak_bytes === now.allocated_peak_bytes && before.device === now.device;
  return now.remedies.length || !isSame ? now.remedies : before.remedies;
}
