/** What one wants to know of a job at a glance: where it ran, with what, what was estimated and what was measured. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import {
  type IDevice,
  type IJob,
  type IMessage,
  type INotice,
  isEnded,
  measuredPeak
} from '../../domain';
import { bytes, duration, moment, together } from '../../format';
import type { JobView } from '../../models/job/jobView';
import {
  costText,
  differenceSentence,
  roleName,
  seconds,
  valueText
} from '../../models/jobs/runs';
import { useApp } from '../common/context';
import { deviceName, markedName, shortName } from '../devices/words';
import { Exports } from './exports';
import { FactRows } from './factRows';
import { linked } from '../common/logLine';
import { Muted, Prose, Row } from '../common/pieces';
import { NoteField } from '../jobsPage/noteField';
import { Card } from './card';
import { offBy } from './jobMemory';

export function Facts({ model, job }: { model: JobView; job: IJob }): JSX.Element {
  const { trans, language, engineTitle, deviceOf } = useApp();
  const { spec, result } = job;
  const measured = measuredPeak(result);
  const estimated = spec.estimated_allocated_bytes;
  const took = seconds(job);
  const variables = spec.settings.variables
    .filter(({ role, parameter }) => role || parameter)
    .map(one => `${roleName(one, trans)} ${valueText(one.value)}`);
  const rows: [string, React.ReactNode][] = [
    [trans.__('Variables'), variables.join(' · ')],
    [
      trans.__('Changed since the last run'),
      spec.differs.map(one => differenceSentence(one, trans)).join('\n')
    ],
    [trans.__('Estimated'), estimated ? bytes(estimated) : ''],
    [
      trans.__('Measured'),
      measured && estimated && measured.over !== 'run'
        ? `${bytes(measured.bytes)} (${offBy(estimated, measured.bytes, trans)})`
        : measured
          ? bytes(measured.bytes)
          : ''
    ],
    [
      trans.__('Where'),
      [
        engineTitle(spec.engine),
        ...job.device_ids.map(id => deviceTitle(id, deviceOf(id), job.device_names[id], trans))
      ].join(' · ')
    ],
    [trans.__('Image'), spec.image],
    [trans.__('Paddle'), result?.paddle_version ?? spec.estimated_paddle_version],
    [trans.__('Submitted'), moment(job.created, language)],
    [
      isEnded(job.state) ? trans.__('Run time') : trans.__('Runs for'),
      took === null ? '' : duration(took, trans)
    ],
    [trans.__('Cost'), costText(job)],
    [trans.__('Submitted by'), job.owner],
    [trans.__('Export'), <Exports key="export" model={model} brief />],
    [trans.__('Told'), <Told key="told" notices={job.notices.filter(isShown)} />]
  ];
  return (
    <Card title={trans.__('Facts')}>
      <dl className="jp-PaddleGpu-factTable">
        <FactRows rows={rows.slice(0, job.notices.some(isShown) ? undefined : -1)} />
      </dl>
      <NoteField jobs={model.jobs} job={job} />
      <Row wrap>{[linked(job.note)].flat().filter(part => typeof part !== 'string')}</Row>
    </Card>
  );
}

/** One that did not want this kind of end is not worth a word. */
function isShown({ state }: INotice): boolean {
  return state !== 'unwanted';
}

/** Who was told of the end, or why not. */
function Told({ notices }: { notices: INotice[] }): JSX.Element {
  const { trans } = useApp();
  const words = {
    due: trans.__('is tried again'),
    sending: trans.__('on its way'),
    sent: trans.__('sent'),
    failed: trans.__('failed'),
    unsure: trans.__('not known'),
    unwanted: ''
  };
  return (
    <>
      {notices.map(({ receiver, state, problem }) => (
        <div key={receiver} data-notice={state}>
          {receiver}: {words[state]}
          {problem && (
            <Muted as="div">
              <Prose text={together(problem.message, problem.hint)} />
            </Muted>
          )}
        </div>
      ))}
    </>
  );
}

/** A device that is still here by its name, else by what it was called when the job got it; of older jobs only the
 *  end of its id is known: the whole one stands under Details. */
export function deviceTitle(
  id: string,
  device: IDevice | undefined,
  known: IMessage | undefined,
  trans: TranslationBundle
): string {
  if (device) {
    const name = markedName(shortName(device), device.checked, trans);
    return `${deviceName(device, trans)} ${name}`;
  }
  if (known) {
    return known.message;
  }
  return id.length > 20 ? `…${id.slice(-6)}` : id;
}
