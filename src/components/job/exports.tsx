/** What can be taken along of a job: as files with what is in each, or by their names alone. */

import * as React from 'react';

import type { JobView } from '../../models/job/jobView';
import { useApp } from '../common/context';
import { Muted } from '../common/pieces';

export function Exports({ model, brief }: { model: JobView; brief?: boolean }): JSX.Element {
  const { trans } = useApp();
  const files: [Parameters<JobView['exportUrl']>[0], string, string][] = [
    [
      'report',
      trans.__('Report (HTML)'),
      trans.__('facts, curves, figures, notebook and the end of the log on one page')
    ],
    [
      'archive',
      trans.__('Archive (ZIP)'),
      trans.__('the same with both notebooks, the whole log and the checkpoints')
    ],
    ['metrics/file', trans.__('Metrics (CSV)'), trans.__('each value with its time')],
    ['metrics', trans.__('Metrics (JSON)'), trans.__('the curves as they are drawn')]
  ];
  return (
    <ul className={`jp-PaddleGpu-downloads${brief ? ' jp-mod-brief' : ''}`}>
      {files.map(([what, name, says]) => (
        <li key={what}>
          <a
            className="jp-PaddleGpu-button jp-mod-link"
            href={model.exportUrl(what)}
            title={brief ? says : undefined}
            download={
              what === 'metrics' ? `${model.job?.spec.name}-${model.job?.id}.json` : true
            }
          >
            {name}
          </a>
          {!brief && <Muted> {says}</Muted>}
        </li>
      ))}
    </ul>
  );
}
