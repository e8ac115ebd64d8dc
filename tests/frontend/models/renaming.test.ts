/** A notebook that gets another name keeps what is known of it; in another folder it is another one. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { IEstimate } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { ActiveNotebook } from '../../../src/models/notebook/notebook';
import { PanelModel } from '../../../src/models/panel';
import { answer, apiOn, settle } from '../helpers';

test.each([
  ['lessons/new.ipynb', true],
  ['elsewhere/old.ipynb', false]
])('renamed to %s, the estimate stays: %p', async (to, stays) => {
  const context = {
    path: 'lessons/old.ipynb',
    isReady: true,
    ready: Promise.resolve(),
    pathChanged: new Signal({}),
    model: { contentChanged: new Signal({}) }
  };
  const widget = { id: 'w', isDisposed: false, disposed: new Signal({}), context, content: {} };
  const tracker = { currentChanged: new Signal({}), currentWidget: widget };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  const api = apiOn(() => Promise.resolve(answer(200, '{}')));
  const model = new PanelModel(api, new EventStream(api), notebook);
  await settle();
  expect(model.training?.source.path).toBe('lessons/old.ipynb');
  Object.assign(model.training ?? {}, {
    estimate: { status: 'ok' } as IEstimate,
    request: { batch_size: 8 }
  });

  context.path = to;
  context.pathChanged.emit(to as never);
  expect(model.training?.source.path).toBe(to);
  expect(model.training?.estimate !== null).toBe(stays);
  expect(model.training?.request).toEqual(stays ? { batch_size: 8 } : {});
  model.dispose();
});
