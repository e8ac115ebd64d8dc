/** What an advice changes is one step of its notebook, in however many cells it is. */

import { YNotebook } from '@jupyter/ydoc';

import { writeCells } from '../../../src/models/notebook/written';
import { settle } from '../helpers';

/** As JupyterLab makes them: each cell has a history of its own. */
function notebook(...sources: string[]): YNotebook {
  const made = new YNotebook({ disableDocumentWideUndoRedo: true });
  made.insertCells(
    0,
    sources.map(source => ({ cell_type: 'code' as const, source, metadata: {} }))
  );
  return made;
}

const texts = (made: YNotebook) => made.cells.map(cell => cell.getSource());

const changed = (cell: number, before: string | null, after: string, tags: string[] = []) => ({
  cell,
  before,
  after,
  tags
});

test('two changed cells are taken back, and written again, from either of them', async () => {
  const made = notebook('load(64)', '# between', 'step()');
  const written = ['load(16)', '# between', 'if n % 4 == 0: step()'];
  const cells = [changed(0, 'load(64)', written[0]), changed(2, 'step()', written[2])];
  expect(writeCells(made, cells)).toBe(0);
  expect(texts(made)).toEqual(written);
  for (const at of [0, 2]) {
    made.cells[at].undo();
    await settle();
    expect(texts(made)).toEqual(['load(64)', '# between', 'step()']);
    made.cells[at].redo();
    await settle();
    expect(texts(made)).toEqual(written);
  }
  // What somebody has typed since is theirs.
  made.cells[2].setSource('mine()');
  made.cells[0].undo();
  await settle();
  expect(texts(made)).toEqual(['load(64)', '# between', 'mine()']);
});

test('the text of a cell that is put in is taken back in it', async () => {
  const made = notebook('BATCH = 64', 'train(BATCH)');
  const put = changed(0, null, 'BATCH = 16', ['injected-parameters']);
  expect(writeCells(made, [put])).toBe(1);
  expect(texts(made)).toEqual(['BATCH = 64', 'BATCH = 16', 'train(BATCH)']);
  expect(made.cells[1].getMetadata('tags')).toEqual(['injected-parameters']);
  made.cells[1].undo();
  await settle();
  expect(texts(made)).toEqual(['BATCH = 64', '', 'train(BATCH)']);
});

test('a cell that was changed meanwhile stays', () => {
  const made = notebook('other');
  expect(writeCells(made, [changed(0, 'load(64)', 'load(16)')])).toBeNull();
  expect(texts(made)).toEqual(['other']);
});
