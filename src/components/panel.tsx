/** The panel from top to bottom: what trains, what it takes, where it fits, submit, jobs. */

import * as React from 'react';

import type { PanelModel } from '../models/panel';
import { PRODUCT } from '../tokens';
import { VERSION } from '../version';
import { Button, Note } from './common/pieces';
import { ConnectionNote } from './common/connection';
import { useApp, useSignal } from './common/context';
import { Facts } from './estimate/facts';
import { Fits } from './devices/fits';
import { JobList } from './jobs/list';
import { Memory } from './estimate/memory';
import { Submit } from './submit/submit';

export function Panel({ model }: { model: PanelModel }): JSX.Element {
  useSignal(model.changed);
  useSignal(model.jobs.changed);
  const { training, serverError, isReady } = model;
  const usable = isReady || !serverError;
  return (
    <div className="jp-PaddleGpu-panel">
      <Head model={model} />
      <ServerState model={model} />
      {usable && training && (
        <>
          <Facts
            key={`facts ${training.source.path}`}
            training={training}
            retry={() => void training.read()}
          />
          <Memory key={`memory ${training.source.path}`} training={training} />
        </>
      )}
      {usable && !training && <NoNotebook />}
      {usable && <Fits model={model} training={training} />}
      {usable && training && (
        <Submit key={`submit ${training.source.path}`} model={model} training={training} />
      )}
      {usable && <JobList model={model} />}
    </div>
  );
}

function Head({ model }: { model: PanelModel }): JSX.Element {
  const { trans } = useApp();
  const name = model.training?.source.name;
  const { behind } = model.notebook;
  return (
    <div className="jp-PaddleGpu-head jp-PaddleGpu-row">
      <h1>{PRODUCT}</h1>
      <span className="jp-PaddleGpu-space" />
      {name && (
        <span
          className="jp-PaddleGpu-muted jp-PaddleGpu-name"
          title={trans.__('Follows the active notebook: %1', model.training?.source.path ?? '')}
        >
          {name}
        </span>
      )}
      {behind && (
        <Button look="link" onClick={() => model.notebook.leave()}>
          {trans.__('Back to %1', behind.name)}
        </Button>
      )}
    </div>
  );
}

function NoNotebook(): JSX.Element {
  const { trans } = useApp();
  return (
    <div className="jp-PaddleGpu-section jp-PaddleGpu-empty">
      <p>{trans.__('Open a notebook to see what its training takes and where it fits.')}</p>
      <p className="jp-PaddleGpu-muted">
        {trans.__('The panel follows the notebook that you work in.')}
      </p>
    </div>
  );
}

/** Anything wrong between this page and the server. */
function ServerState({ model }: { model: PanelModel }): JSX.Element | null {
  const { trans } = useApp();
  const { serverError, otherVersion, events } = model;
  if (serverError) {
    return (
      <div className="jp-PaddleGpu-section">
        <Note kind="error" message={serverError}>
          <Button onClick={() => model.retry()}>{trans.__('Try again')}</Button>
        </Note>
      </div>
    );
  }
  if (otherVersion) {
    return (
      <div className="jp-PaddleGpu-section">
        <Note
          kind="warning"
          message={{
            code: 'other_version',
            message: trans.__(
              'This page has version %1 of Paddle GPU and the server has %2.',
              VERSION,
              otherVersion
            ),
            hint: trans.__('Start the Jupyter server again and reload the page.')
          }}
        />
      </div>
    );
  }
  return <ConnectionNote events={events} retry={() => model.retry()} />;
}
