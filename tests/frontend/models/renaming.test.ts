/** Which notebook is meant: one that gets another name stays the same, and one that is hidden gives way to one in view. */

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
  const widget = {
    ...{ id: 'w', isDisposed: false, disposed: new Signal({}), context, content: {} },
    sessionContext: { statusChanged: new Signal({}) }
  };
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

test('a notebook beside the page that lies over the active one is the one that is meant', async () => {
  const panel = (path: string, isVisible: boolean) => ({
    ...{ id: path, isVisible, isDisposed: false, disposed: new Signal({}), content: {} },
    sessionContext: { statusChanged: new Signal({}) },
    context: {
      ...{ path, isReady: true, ready: Promise.resolve() },
      pathChanged: new Signal({}),
      model: { contentChanged: new Signal({}) }
    }
  });
  const panels = [panel('under.ipynb', true), panel('beside.ipynb', true)];
  const tracker = {
    currentChanged: new Signal({}),
    currentWidget: panels[0],
    find: (is: (one: (typeof panels)[0]) => boolean) => panels.find(is)
  };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  await settle();
  expect(notebook.current?.path).toBe('under.ipynb');
  panels[0].isVisible = false;
  notebook.look();
  await settle();
  expect(notebook.current?.path).toBe('beside.ipynb');
  // With nothing in view it stays the active one.
  panels[1].isVisible = false;
  notebook.look();
  await settle();
  expect(notebook.current?.path).toBe('under.ipynb');
  notebook.dispose();
});

test.each([
  ['idle', 0],
  ['busy', 0],
  ['restarting', 1],
  ['dead', 1]
])('a kernel that is %s is asked again what it holds: %p times', async (status, times) => {
  const statusChanged = new Signal<object, string>({});
  const context = {
    ...{ path: 'a.ipynb', isReady: true, ready: Promise.resolve() },
    ...{ pathChanged: new Signal({}), model: { contentChanged: new Signal({}) } }
  };
  const widget = {
    ...{ id: 'w', isDisposed: false, disposed: new Signal({}), context, content: {} },
    sessionContext: { statusChanged }
  };
  const tracker = { currentChanged: new Signal({}), currentWidget: widget };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  let asked = 0;
  notebook.executed.connect(() => asked++);
  await settle();
  statusChanged.emit(status);
  expect(asked).toBe(times);
  notebook.dispose();
});
