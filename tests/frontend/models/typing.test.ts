/** A sample of the devices that comes between two keys is kept, and drawn once the keys rest. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import type { IInventory } from '../../../src/domain';
import { EventStream } from '../../../src/events';
import { ActiveNotebook } from '../../../src/models/notebook/notebook';
import { PanelModel } from '../../../src/models/panel';
import { answer, apiOn, settle } from '../helpers';

test('who types is not disturbed by samples', async () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
  const model = { contentChanged: new Signal<object, void>({}) };
  const context = {
    ...{ path: 'a.ipynb', isReady: true, ready: Promise.resolve(), model },
    pathChanged: new Signal({})
  };
  const widget = {
    ...{ id: 'w', isDisposed: false, disposed: new Signal({}), context, content: {} },
    sessionContext: { statusChanged: new Signal({}) }
  };
  const tracker = { currentChanged: new Signal({}), currentWidget: widget };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  const events = new EventStream(apiOn(() => Promise.resolve(answer(200, '{}'))));
  const panel = new PanelModel(
    apiOn(() => Promise.resolve(answer(200, '{}'))),
    events,
    notebook
  );
  await settle();
  let drawn = 0;
  panel.changed.connect(() => drawn++);
  const sample = (time: number) => {
    const inventory = { time, devices: [] } as unknown as IInventory;
    (events.inventory as Signal<EventStream, IInventory>).emit(inventory);
  };
  model.contentChanged.emit();
  sample(1);
  expect(drawn).toBe(0);
  expect(panel.inventory?.time).toBe(1);
  now.mockReturnValue(1_002_000);
  sample(2);
  expect(drawn).toBe(1);
  panel.dispose();
  now.mockRestore();
});
