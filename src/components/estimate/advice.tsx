/** The advice that is worth it, with what it gives; all of it, and what else can be asked, for those who wonder. */

import * as React from 'react';

import type { IEstimate, IRemedy } from '../../domain';
import { bytes, together } from '../../format';
import type { Training } from '../../models/estimate/training';
import { askedFor } from '../../models/estimate/whatIfs';
import { useApp } from '../common/context';
import { Busy, Button, Muted, Prose, Section, Space } from '../common/pieces';
import { WhatIfForm } from './whatIfForm';

/** The note that there was not time for all of it. */
export const LATE = 'details_late';
/** Share of the figure that an advice has to save to be shown where everything fits. */
const WORTH = 0.1;
/** Bytes below which nobody is better off: a GPU's driver gives memory away by as much. */
const GRAIN = 2 ** 21;
/** Pieces of advice that stand there before somebody asks for more: where everything fits, and where it does not. */
const SHOWN = { fits: 1, short: 2 };

export function Advice(props: { estimate: IEstimate; training: Training }): JSX.Element | null {
  const { trans } = useApp();
  const { estimate, training } = props;
  const isAsked = askedFor(training).some(({ isAnswer }) => !isAnswer);
  const [more, setMore] = React.useState(false);
  const open = more || (isAsked && estimate.status !== 'ok');
  if (estimate.status !== 'ok' && !isAsked) {
    return null;
  }
  const remedies = estimate.remedies as IRemedy[];
  const total = estimate.peak_bytes ?? estimate.allocated_peak_bytes ?? 0;
  const decision = training.submission.decision ?? training.placement?.decision;
  // Where another training is what does not fit, nothing of this one would help.
  const isShort =
    decision?.outcome === 'refuse' &&
    !decision.final &&
    !decision.notes.some(({ code }) => code === 'decided_by_most');
  const worth = remedies.filter(
    ({ saves_bytes, refused }) =>
      !refused && (isShort || saves_bytes >= Math.max(WORTH * total, GRAIN))
  );
  // Where it fits nothing, what makes it fit comes alone, as long as there is such advice.
  const room = Math.max(
    0,
    ...(training.placement?.verdicts ?? []).map(({ free_bytes }) => free_bytes ?? 0)
  );
  const helping = isShort ? worth.filter(({ peak_bytes }) => peak_bytes <= room) : [];
  const best = helping.length ? helping : worth;
  const late = estimate.notes.find(({ code }) => code === LATE);
  const shown = open ? remedies : best.slice(0, isShort ? SHOWN.short : SHOWN.fits);
  // What was found before stands until there is news: it may be that none of it is worth a heading.
  const computing = training.isDetailing && !remedies.length;
  if (!open && !shown.length && !computing) {
    return (
      <section
        className="jp-PaddleGpu-section jp-PaddleGpu-row"
        aria-label={trans.__('Could save')}
      >
        <span className="jp-PaddleGpu-muted jp-PaddleGpu-small" title={late?.message}>
          {late ? trans.__('Not all was sought.') : trans.__('Nothing saves 10 % of it.')}
        </span>
        <Space />
        <Button look="link" aria-expanded={false} onClick={() => setMore(true)}>
          {trans.__('more, what if…')}
        </Button>
      </section>
    );
  }
  return (
    <Section
      title={isShort ? trans.__('What would help') : trans.__('Could save')}
      aside={
        <Button look="link" aria-expanded={open} onClick={() => setMore(!more)}>
          {open ? trans.__('less') : trans.__('more, what if…')}
        </Button>
      }
    >
      {computing && <Busy>{trans.__('Computing what would help…')}</Busy>}
      {shown.length > 0 && (
        <div
          className="jp-PaddleGpu-remedies"
          role="group"
          aria-label={trans.__('What would help')}
        >
          {shown.map((remedy, index) => (
            <Remedy key={index} remedy={remedy} training={training} />
          ))}
        </div>
      )}
      {late && (open || isShort) && (
        <Muted as="div" small>
          {late.message}{' '}
          {training.isDetailing ? (
            <Busy>{trans.__('Computing what would help…')}</Busy>
          ) : (
            <Button look="link" onClick={() => void training.seek()}>
              {trans.__('Seek on')}
            </Button>
          )}
        </Muted>
      )}
      {open && <WhatIfForm estimate={estimate} training={training} />}
    </Section>
  );
}

/** A button with what it was computed to give; or why it cannot be had. */
function Remedy(props: { remedy: IRemedy; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { remedy, training } = props;
  if (remedy.refused) {
    return (
      <div className="jp-PaddleGpu-refused">
        {remedy.says.message} → <b>{bytes(remedy.peak_bytes)}</b>
        <Muted as="div">
          <Prose text={together(remedy.refused.message, remedy.refused.hint)} />
        </Muted>
      </div>
    );
  }
  return (
    <Button
      disabled={training.isEstimating}
      title={trans.__(
        'Saves %1. Click to estimate with it; the job is run with it too.',
        bytes(remedy.saves_bytes)
      )}
      onClick={() => void training.ask({ ...remedy.request, details: undefined })}
    >
      {remedy.says.message} → <b>{bytes(remedy.peak_bytes)}</b>
    </Button>
  );
}
