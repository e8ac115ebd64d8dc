/** The panel: what runs first, then what trains, what it takes and where it fits; Submit is always in view. */

import * as React from 'react';

import { bytes } from '../format';
import { isOf } from '../models/jobs/jobViews';
import type { PanelModel } from '../models/panel';
import type { Training } from '../models/estimate/training';
import { VERSION } from '../version';
import { ConnectionNote } from './common/connection';
import { useApp, useSignal } from './common/context';
import { useKeptFocus } from './common/keptFocus';
import { Button, Muted, Note, Space } from './common/pieces';
import { Fits } from './devices/fits';
import { Advice } from './estimate/advice';
import { Memory } from './estimate/memory';
import { Questions } from './estimate/questions';
import { Silhouette } from './estimate/silhouette';
import { Head } from './head/head';
import { JobList } from './jobs/list';
import { Running } from './jobs/running';
import { Submit } from './submit/foot';

export function Panel({ model }: { model: PanelModel }): JSX.Element {
  useSignal(model.changed);
  useSignal(model.jobs.changed);
  const root = useKeptFocus<HTMLDivElement>();
  const { training, serverError, isReady } = model;
  const { running } = model.views;
  const usable = isReady || !serverError;
  return (
    <div className="jp-PaddleGpu-panel" ref={root}>
      <Head model={model} />
      <div className="jp-PaddleGpu-body">
        <ServerState model={model} />
        {usable && running && <Running key={running.id} model={model} view={running} />}
        {usable && training && (
          <Before key={training.source.path} model={model} training={training} />
        )}
        {usable && !training && <NoNotebook />}
        {usable && !training && <Fits model={model} training={null} />}
        {usable && <JobList model={model} />}
      </div>
      {usable && training && (
        <Submit key={`submit ${training.source.path}`} model={model} training={training} />
      )}
    </div>
  );
}

/** All that is to be known before a submit; folded to a line while a job of this notebook runs. */
function Before(props: { model: PanelModel; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { model, training } = props;
  const { estimate } = training;
  const runs = model.views.running?.job;
  const isRunning = !!runs && isOf(runs, training.source.path);
  const [open, setOpen] = React.useState(false);
  const total = estimate?.peak_bytes ?? estimate?.allocated_peak_bytes ?? null;
  const isFolded = isRunning && !open;
  return (
    <>
      <Questions training={training} retry={() => void training.read()} />
      {isRunning && (
        <div className="jp-PaddleGpu-section jp-PaddleGpu-row">
          <b>{total === null ? trans.__('Estimate') : bytes(total)}</b>
          <Muted>
            {training.stale
              ? trans.__('edited since')
              : estimate?.target === 'cpu'
                ? trans.__('CPU')
                : (estimate?.device ?? '')}
          </Muted>
          <Space />
          <Button look="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? trans.__('less') : trans.__('show')}
          </Button>
        </div>
      )}
      {!isFolded && (
        <>
          <Memory training={training} model={model} />
          <Fits model={model} training={training} />
          {estimate && <Advice estimate={estimate} training={training} />}
        </>
      )}
    </>
  );
}

function NoNotebook(): JSX.Element {
  const { trans } = useApp();
  return (
    <div className="jp-PaddleGpu-section jp-PaddleGpu-empty jp-mod-leading">
      <p>{trans.__('Open a notebook to see what its training takes and where it fits.')}</p>
      <Muted as="p">{trans.__('The panel follows the notebook that you work in.')}</Muted>
      <Silhouette />
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
