/** A person's note about a job: kept when the field is left or Enter is pressed, taken back by Escape; Shift+Enter is a new line. */

import * as React from 'react';

import type { IJob } from '../../domain';
import type { Jobs } from '../../models/jobs/jobs';
import { useApp } from '../common/context';

export function NoteField(props: {
  jobs: Jobs;
  job: IJob;
  /** Called when the field is left, by a key or otherwise, where it stands there only to be written in. */
  done?: (byKey: boolean) => void;
}): JSX.Element {
  const { jobs, job, done } = props;
  const { trans } = useApp();
  const [text, setText] = React.useState(job.note);
  React.useEffect(() => setText(job.note), [job.note]);
  const keep = () => {
    if (text.trim() !== job.note) {
      void jobs.annotate(job.id, { note: text });
    }
  };
  return (
    <textarea
      className="jp-PaddleGpu-input jp-PaddleGpu-noteField"
      value={text}
      rows={text.split('\n').length}
      maxLength={2000}
      placeholder={trans.__('Add a note')}
      aria-label={trans.__('Note about %1', job.spec.name)}
      onChange={event => setText(event.target.value)}
      autoFocus={!!done}
      onBlur={() => {
        keep();
        done?.(false);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
          event.preventDefault();
          keep();
          done?.(true);
        } else if (event.key === 'Escape') {
          setText(job.note);
          done?.(true);
        }
      }}
    />
  );
}
