/** What an advice changes, written into open documents so that Ctrl+Z in one of their texts takes all of it back. */

import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { NotebookModel } from '@jupyterlab/notebook';

import type { IChangedCell, IChanges } from '../../domain';

type SharedNotebook = NotebookModel['sharedModel'];
/** The text of a cell or of a file that is open in an editor. */
type SharedText = Pick<
  SharedNotebook['cells'][number],
  'changed' | 'getSource' | 'setSource' | 'undo' | 'redo'
>;

/** A text with what stood in it and what is written there. */
export interface IWritten {
  text: SharedText;
  before: string;
  after: string;
}

/** A notebook or a script, into whose cells may be written. */
export interface IWritable {
  /** Contents path. */
  readonly path: string;
  /** Write changed cells, and files with them, as one step that Ctrl+Z in one takes back; none for a script. */
  write?(cells: readonly IChangedCell[], files: readonly IWritten[]): void;
}

/** Opens a file in an editor. */
export type Opening = (path: string) => Promise<IDocumentWidget>;

/** Write cells, and files with them; answers where the first one is now, null where none was as it was when the change
 * was computed. */
export function writeCells(
  shared: SharedNotebook,
  cells: readonly IChangedCell[],
  files: readonly IWritten[] = []
): number | null {
  const all = files.filter(put);
  let first: number | null = null;
  // From the last one on: a cell that is put in moves those behind it.
  for (const { cell, before, after, tags } of [...cells].sort((a, b) => b.cell - a.cell)) {
    const at = before === null ? cell + 1 : cell;
    if (before === null) {
      // Its text comes afterwards: that a cell is new is nothing that Ctrl+Z in it could take back.
      const metadata = { tags: [...(tags ?? [])] };
      shared.insertCell(at, { cell_type: 'code', source: '', metadata });
    }
    const one = { text: shared.cells[at], before: before ?? '', after };
    if (put(one)) {
      all.push(one);
      first = at;
    }
  }
  if (all.length > 1) {
    tie(all);
  }
  return first;
}

/** Write changes into cells and files of settings, which are opened and saved; false where a file is being edited. */
export async function written(
  { cells, files }: IChanges,
  source: IWritable,
  open: Opening
): Promise<boolean> {
  const contexts = [];
  const texts: IWritten[] = [];
  for (const { name, before, after } of files) {
    const { context } = await open(PathExt.join(PathExt.dirname(source.path), name));
    await context.ready;
    // Only behind its checkpoint a file that was just opened forgets what could be taken back.
    await context.sessionContext.ready;
    const text = context.model.sharedModel as unknown as SharedText;
    // An editor keeps which ends the lines have, and shows none.
    const [was, will] = [before, after].map(one => one.replace(/\r\n/g, '\n'));
    if (text.getSource() !== was) {
      return false;
    }
    contexts.push(context);
    texts.push({ text, before: was, after: will });
  }
  if (cells.length) {
    source.write?.(cells, texts);
  } else {
    texts.forEach(put);
  }
  await Promise.all(contexts.map(context => context.save()));
  return true;
}

/** Write one text, where it is as it was. */
function put({ text, before, after }: IWritten): boolean {
  if (text?.getSource() !== before) {
    return false;
  }
  // What was typed a moment ago is another step.
  const history = (text as { undoManager?: { stopCapturing(): void } | null }).undoManager;
  history?.stopCapturing();
  text.setSource(after);
  history?.stopCapturing();
  return true;
}

/** Half of a change is another program: who takes back one of its texts, or does that again, does so with all. */
function tie(all: readonly IWritten[]): void {
  for (const { text: own, before, after } of all) {
    own.changed.connect(() => {
      const now = own.getSource();
      // Behind the step that is just made: each text has a history of its own.
      queueMicrotask(() => {
        for (const other of all.filter(({ text }) => text !== own)) {
          const there = other.text.getSource();
          if (now === before && there === other.after && own.getSource() === now) {
            other.text.undo();
          } else if (now === after && there === other.before && own.getSource() === now) {
            other.text.redo();
          }
        }
      });
    });
  }
}
