/** The newest lines of a log as they come: on the overview, and of each process of a distributed training. */

import * as React from 'react';

import { clock } from '../../format';
import type { LogStore } from '../../models/job/log';
import { useApp, useSignal } from '../common/context';
import { LogText } from '../common/logLine';
import { Muted } from '../common/pieces';
import { Card } from './card';

export function LogTail(props: {
  title: string;
  /** How the lines are called for those who hear it. */
  label: string;
  log: LogStore;
  count: number;
  aside: React.ReactNode;
}): JSX.Element {
  const { trans } = useApp();
  const { title, label, log, count, aside } = props;
  useSignal(log.changed);
  const lines = log.tail(count);
  const box = React.useRef<HTMLDivElement>(null);
  const newest = lines.at(-1)?.n;
  React.useLayoutEffect(() => {
    if (box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [newest]);
  return (
    <Card title={title} wide aside={aside}>
      <div className="jp-PaddleGpu-tail" role="log" aria-label={label} tabIndex={0} ref={box}>
        {lines.map(line => (
          <div key={line.n} className="jp-PaddleGpu-tailLine">
            <time className="jp-PaddleGpu-faint">{clock(line.t)}</time>
            <LogText line={line} />
          </div>
        ))}
        {!lines.length && (
          <Muted as="div">
            {!log.isOpen
              ? (log.error?.message ?? trans.__('Reading the log…'))
              : log.ended
                ? trans.__('Nothing was printed.')
                : trans.__('Nothing printed yet.')}
          </Muted>
        )}
      </div>
    </Card>
  );
}
