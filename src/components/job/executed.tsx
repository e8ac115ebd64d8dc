/** The notebook as a job has executed it, drawn by JupyterLab's own means, to be read. */

import type { IDocumentManager } from '@jupyterlab/docmanager';
import {
  NotebookModel,
  type NotebookWidgetFactory,
  StaticNotebook
} from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IJob } from '../../domain';
import type { JobView } from '../../models/job/jobView';
import { useApp } from '../common/context';
import { Busy } from '../common/pieces';

export type Registry = IDocumentManager['registry'];

type Content = Parameters<NotebookModel['fromJSON']>[0];

export function Executed(props: {
  model: JobView;
  job: IJob;
  registry: Registry;
}): JSX.Element {
  const { trans } = useApp();
  const { model, job, registry } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const [state, setState] = React.useState('');
  // Lumino wants to take it out while the page still has it.
  React.useLayoutEffect(() => {
    let isWanted = true;
    let shown: StaticNotebook | null = null;
    model
      .executed()
      .then(content => {
        if (isWanted && host.current) {
          shown = drawn(registry, content as Content, trans);
          StaticNotebook.attach(shown, host.current);
          setState('there');
        }
      })
      .catch((reason: Error) => isWanted && setState(reason.message));
    return () => {
      isWanted = false;
      shown?.dispose();
    };
  }, [model, registry, job.state, job.progress.cells_done]);
  return (
    <>
      {!state && <Busy>{trans.__('Reading the notebook…')}</Busy>}
      {state && state !== 'there' && <p role="alert">{state}</p>}
      <div ref={host} role="group" aria-label={trans.__('Executed copy')} />
    </>
  );
}

/** What it holds is not trusted: scripts in it do not run. */
function drawn(registry: Registry, content: Content, trans: TranslationBundle): StaticNotebook {
  const { rendermime, contentFactory, mimeTypeService } = registry.getWidgetFactory(
    'Notebook'
  ) as NotebookWidgetFactory;
  const notebook = new StaticNotebook({
    rendermime: rendermime.clone(),
    contentFactory,
    mimeTypeService,
    notebookConfig: {
      ...StaticNotebook.defaultNotebookConfig,
      scrollPastEnd: false,
      windowingMode: 'none'
    }
  });
  const model = new NotebookModel();
  notebook.model = model;
  model.fromJSON(content);
  notebook.widgets.forEach((cell, at) => {
    cell.readOnly = true;
    // JupyterLab's own editors have no name.
    void cell.ready.then(() =>
      cell.node
        .querySelector('[role=textbox]')
        ?.setAttribute('aria-label', trans.__('Cell %1', at + 1))
    );
  });
  notebook.disposed.connect(() => model.dispose());
  return notebook;
}
