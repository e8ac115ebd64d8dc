/** What a run has otherwise than the one before it, as chips. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { byRole, differenceSentence, differenceText, valueText } from '../../models/jobs/runs';
import { useApp } from '../common/context';
import { Chip, Muted } from '../common/pieces';

/** Chips that are shown; further ones are told in the last one's title. */
const SHOWN = 4;

export function Differs({ job }: { job: IJob }): JSX.Element {
  const { trans } = useApp();
  const { differs, differs_from } = job.spec;
  if (!differs.length) {
    const batch = byRole(job, 'batch_size');
    return (
      <Muted>
        {differs_from
          ? trans.__('as before')
          : batch
            ? `${trans.__('batch')} ${valueText(batch.value)}`
            : trans.__('first run')}
      </Muted>
    );
  }
  const rest = differs.slice(SHOWN);
  return (
    <span className="jp-PaddleGpu-chips">
      {differs.slice(0, SHOWN).map((one, index) => (
        <Chip key={index} title={differenceSentence(one, trans)}>
          {differenceText(one, trans)}
        </Chip>
      ))}
      {rest.length > 0 && (
        <Chip title={rest.map(one => differenceSentence(one, trans)).join('\n')}>
          +{rest.length}
        </Chip>
      )}
    </span>
  );
}
