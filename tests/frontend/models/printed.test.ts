/**
 * Of a notebook's outputs what was printed goes to the server, which finds the shapes of data in it; pictures stay.
 * Code and what it asks of its image tell two states apart.
 */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { ActiveNotebook } from '../../../src/models/notebook/notebook';
import { settle } from '../helpers';

/** The notebook that is open with this model. */
async function active(model: object): Promise<ActiveNotebook> {
  const context = {
    ...{ path: 'a.ipynb', isReady: true, ready: Promise.resolve() },
    model: { contentChanged: new Signal({}), ...model },
    pathChanged: new Signal({})
  };
  const widget = {
    ...{ id: 'w', isDisposed: false, disposed: new Signal({}), context, content: { model } },
    sessionContext: { statusChanged: new Signal({}) }
  };
  const tracker = { currentChanged: new Signal({}), currentWidget: widget };
  const notebook = new ActiveNotebook(tracker as unknown as INotebookTracker, () => undefined);
  await settle();
  return notebook;
}

test('another image or another variable is another state, any other metadata is not', async () => {
  const metadata: Record<string, unknown> = {};
  const cells = [{ type: 'code', sharedModel: { getSource: () => 'x = 1' } }];
  const notebook = await active({ cells, getMetadata: (name: string) => metadata[name] });
  const now = () => notebook.current?.fingerprint();
  const bare = now();
  metadata.kernelspec = { name: 'python3' };
  expect(now()).toBe(bare);
  metadata.paddle_gpu = { image: 'paddle:3.0.0' };
  const first = now();
  expect(first).not.toBe(bare);
  metadata.paddle_gpu = { image: 'paddle:3.0.0', environment: { BATCH: '8' } };
  expect(now()).not.toBe(first);
  notebook.dispose();
});

test('what was printed is sent as text, pictures and counts are not', async () => {
  const outputs = [
    { output_type: 'stream', name: 'stderr', text: ['[10, 3, 96, 96] ', '[10, 1]\n'] },
    { output_type: 'execute_result', data: { 'text/plain': '(404, 13)' }, execution_count: 3 },
    { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo=' }, metadata: {} },
    { output_type: 'stream', name: 'stdout', text: '.'.repeat(30_000) },
    { output_type: 'error', ename: 'ValueError', evalue: '', traceback: [] }
  ];
  const cells = [
    { cell_type: 'code', source: 'x', outputs, execution_count: 3 },
    { cell_type: 'markdown', source: '# A' }
  ];
  const notebook = await active({ toJSON: () => ({ nbformat: 4, cells }) });
  const stream = (text: string) => ({ output_type: 'stream', name: 'stdout', text });
  expect(notebook.current?.body().content).toEqual({
    nbformat: 4,
    cells: [
      {
        cell_type: 'code',
        source: 'x',
        outputs: [
          stream('[10, 3, 96, 96] [10, 1]\n'),
          stream('(404, 13)'),
          stream('.'.repeat(20_000))
        ],
        execution_count: null
      },
      cells[1]
    ]
  });
  notebook.dispose();
});
