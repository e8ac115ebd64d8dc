/** Why an action on a job was not done, until somebody has read it. */

import * as React from 'react';

import type { Jobs } from '../../models/jobs/jobs';
import { useApp } from '../common/context';
import { Button, Note } from '../common/pieces';

/** `id`: of that job alone. */
export function ActionFailure(props: { jobs: Jobs; id?: string }): JSX.Element | null {
  const { trans } = useApp();
  const { jobs, id } = props;
  const { failure } = jobs;
  return failure && (id === undefined || failure.id === id) ? (
    <Note kind="error" message={failure.error}>
      <Button onClick={() => jobs.dismissFailure()}>{trans.__('Dismiss')}</Button>
    </Note>
  ) : null;
}
