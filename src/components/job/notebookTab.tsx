/** The two notebooks of a job, and what its code has otherwise than the last run's. */

import * as React from 'react';

import type { IComparison, IJob } from '../../domain';
import { jobTitle } from '../../models/jobs/runs';
import type { JobView } from '../../models/job/jobView';
import { useApp } from '../common/context';
import { Busy, Button } from '../common/pieces';
import { CodeDifference } from './codeDifference';
import { Executed, type Registry } from './executed';

export function NotebookTab(props: {
  model: JobView;
  job: IJob;
  registry: Registry;
  openSource: () => void;
  openExecuted: () => void;
}): JSX.Element {
  const { trans, language } = useApp();
  const { model, job, registry, openSource, openExecuted } = props;
  const last = model.last?.job;
  const [found, setFound] = React.useState<IComparison | Error | null>(null);
  React.useEffect(() => {
    let wanted = true;
    setFound(null);
    if (last) {
      model.compare(last.id).then(
        answer => wanted && setFound(answer),
        (reason: Error) => wanted && setFound(reason)
      );
    }
    return () => {
      wanted = false;
    };
  }, [model, last?.id]);
  return (
    <div className="jp-PaddleGpu-tabText">
      <dl className="jp-PaddleGpu-factTable">
        <div>
          <dt>{trans.__('Source notebook')}</dt>
          <dd>
            {job.spec.notebook}{' '}
            <Button look="link" onClick={openSource}>
              {trans.__('Open')}
            </Button>
          </dd>
        </div>
        <div>
          <dt>{trans.__('Executed copy')}</dt>
          <dd>
            {job.started === null ? (
              trans.__('Nothing is executed yet.')
            ) : (
              <>
                {job.spec.output}{' '}
                <Button look="link" onClick={openExecuted}>
                  {trans.__('Open')}
                </Button>
              </>
            )}
          </dd>
        </div>
      </dl>
      {last && (
        <>
          <h2>{trans.__('Code against %1', jobTitle(last, trans, language))}</h2>
          {found === null ? (
            <Busy>{trans.__('Comparing…')}</Busy>
          ) : found instanceof Error ? (
            <p role="alert">{found.message}</p>
          ) : (
            <CodeDifference cells={found.code} />
          )}
        </>
      )}
      {job.started !== null && <Executed model={model} job={job} registry={registry} />}
    </div>
  );
}
