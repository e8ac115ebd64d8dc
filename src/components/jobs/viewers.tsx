/** Buttons that show a job's curves in VisualDL or TensorBoard, where its notebook writes for them. */

import * as React from 'react';

import type { IJob } from '../../domain';
import { VIEWERS, viewersOf } from '../../models/jobs/runs';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';

export function ViewerButtons(props: { job: IJob; look?: 'quiet' | 'link' }): JSX.Element {
  const { job, look } = props;
  return (
    <>
      {viewersOf(job).map(viewer => (
        <ViewerButton key={viewer} job={job} viewer={viewer} look={look} />
      ))}
    </>
  );
}

/** The viewer takes seconds to start: a second click meanwhile would do nothing. */
function ViewerButton(props: {
  job: IJob;
  viewer: string;
  look?: 'quiet' | 'link';
}): JSX.Element {
  const { trans, commands } = useApp();
  const { job, viewer, look } = props;
  const [opens, setOpens] = React.useState(false);
  const open = async () => {
    setOpens(true);
    await commands.execute(CommandIDs.openViewer, { id: job.id, viewer });
    setOpens(false);
  };
  return (
    <Button
      look={look}
      aria-busy={opens}
      title={trans.__('What the notebook wrote for %1, in a tab', VIEWERS[viewer])}
      onClick={() => void (opens || open())}
    >
      {opens ? trans.__('%1 starts…', VIEWERS[viewer]) : VIEWERS[viewer]}
    </Button>
  );
}
