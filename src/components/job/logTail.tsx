/** The newest lines of the log on the overview, as they come. */

import * as React from 'react';

import { clock } from '../../format';
import type { JobView } from '../../models/job/jobView';
import { useApp, useSignal } from '../common/context';
import { LogText } from '../common/logLine';
import { Button, Muted } from '../common/pieces';
import { Card } from './card';

const LINES = 12;

export function LogTail(props: { model: JobView; open: () => void }): JSX.Element {
  const { trans } = useApp();
  const { model, open } = props;
  useSignal(model.log.changed);
  const lines = model.log.tail(LINES);
  const box = React.useRef<HTMLDivElement>(null);
  const newest = lines.at(-1)?.n;
  React.useLayoutEffect(() => {
    if (box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [newest]);
  return (
    <Card
      title={trans.__('Log')}
      wide
      aside={
        <Button look="link" onClick={open}>
          {trans.__('Open the log')}
        </Button>
      }
    >
      <div
        className="jp-PaddleGpu-tail"
        role="log"
        aria-label={trans.__('Last lines of the log')}
        tabIndex={0}
        ref={box}
      >
        {lines.map(line => (
          <div key={line.n} className="jp-PaddleGpu-tailLine">
            <time className="jp-PaddleGpu-faint">{clock(line.t)}</time>
            <LogText line={line} />
          </div>
        ))}
        {!lines.length && (
          <Muted as="div">
            {!model.log.isOpen
              ? trans.__('Reading the log…')
              : model.log.ended
                ? trans.__('Nothing was printed.')
                : trans.__('Nothing printed yet.')}
          </Muted>
        )}
      </div>
    </Card>
  );
}
