/** What is wrong between this page and a server that answered before. */

import * as React from 'react';

import type { IMessage } from '../../domain';
import type { EventStream } from '../../events';
import { Button, Note } from './pieces';
import { useApp, useSignal } from './context';

export function ConnectionNote(props: {
  events: EventStream;
  retry: () => void;
}): JSX.Element | null {
  const { trans } = useApp();
  const { events, retry } = props;
  useSignal(events.connectionChanged);
  const messages: Partial<Record<typeof events.connection, IMessage>> = {
    refused: {
      code: 'refused',
      message: trans.__('The server no longer knows this page. Jobs go on without it.'),
      hint: trans.__('Reload the page and log in again.')
    },
    offline: events.problem ?? {
      code: 'offline',
      message: trans.__('The server does not answer. Jobs go on without it.'),
      hint: trans.__('The panel goes on by itself as soon as the server is back.')
    }
  };
  const message = messages[events.connection];
  return message ? (
    <div className="jp-PaddleGpu-section" role="status">
      <Note kind="warning" message={message}>
        {events.connection === 'offline' && (
          <Button onClick={retry}>{trans.__('Try now')}</Button>
        )}
      </Note>
    </div>
  ) : null;
}
