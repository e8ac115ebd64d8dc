/** What an advice changes is one step of its notebook, in however many cells it is. */

import { YFile, YNotebook } from '@jupyter/ydoc';

import type { IChanges } from '../../../src/domain';
import {
  type IWritable,
  type Opening,
  writeCells,
  written
} from '../../../src/models/notebook/written';
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

/** A file that is open in an editor, and what is opened and saved of it. */
function editor(text: string): { file: YFile; did: string[]; open: Opening } {
  const file = new YFile();
  file.setSource(text);
  const did: string[] = [];
  const save = () => void did.push('saved');
  // As JupyterLab has it: behind its checkpoint a file that was just opened cannot be taken back any more.
  const checked = settle().then(() => file.clearUndoHistory());
  const sessionContext = { ready: checked };
  const context = {
    ready: Promise.resolve(),
    sessionContext,
    model: { sharedModel: file },
    save
  };
  const open = (path: string) => {
    did.push(path);
    return Promise.resolve({ context });
  };
  return { file, did, open: open as unknown as Opening };
}

const settings = { path: '/home/ada/conf/run.yml', name: 'conf/run.yml' };
const changes = (cells: IChanges['cells'] = []): IChanges => ({
  says: [],
  cells,
  files: [{ ...settings, before: 'batch: 64\r\n', after: 'batch: 16\r\n' }],
  difference: '',
  refused: [],
  written: []
});

test('a file of settings is opened, written and saved, and its editor takes it back', async () => {
  const { file, did, open } = editor('batch: 64\n');
  expect(await written(changes(), { path: 'work/a.ipynb' }, open)).toBe(true);
  expect(file.getSource()).toBe('batch: 16\n');
  expect(did).toEqual(['work/conf/run.yml', 'saved']);
  file.undo();
  expect(file.getSource()).toBe('batch: 64\n');
});

test('a file that is being edited stays', async () => {
  const { file, did, open } = editor('batch: 32\n');
  expect(await written(changes(), { path: 'a.ipynb' }, open)).toBe(false);
  expect(file.getSource()).toBe('batch: 32\n');
  expect(did).toEqual(['conf/run.yml']);
});

test('a cell and a file are taken back together', async () => {
  const made = notebook('step()');
  const { file, open } = editor('batch: 64\n');
  const write: IWritable['write'] = (cells, files) => void writeCells(made, cells, files);
  await written(changes([changed(0, 'step()', 'amp()')]), { path: 'a.ipynb', write }, open);
  expect([...texts(made), file.getSource()]).toEqual(['amp()', 'batch: 16\n']);
  made.cells[0].undo();
  await settle();
  expect([...texts(made), file.getSource()]).toEqual(['step()', 'batch: 64\n']);
});
