/** What an advice changes, written into an open notebook so that Ctrl+Z in one of its cells takes all of it back. */

import type { NotebookModel } from '@jupyterlab/notebook';

import type { IChangedCell } from '../../domain';

type SharedNotebook = NotebookModel['sharedModel'];
type SharedCell = SharedNotebook['cells'][number];

/** A cell with what stood in it and what was written there. */
interface IWritten {
  cell: SharedCell;
  before: string;
  after: string;
}

/** Write them; answers where the first one is now, null where none was as it was when the change was computed. */
export function writeCells(
  shared: SharedNotebook,
  cells: readonly IChangedCell[]
): number | null {
  const all: IWritten[] = [];
  let first: number | null = null;
  // From the last one on: a cell that is put in moves those behind it.
  for (const { cell, before, after, tags } of [...cells].sort((a, b) => b.cell - a.cell)) {
    const at = before === null ? cell + 1 : cell;
    if (before === null) {
      // Its text comes afterwards: that a cell is new is nothing that Ctrl+Z in it could take back.
      const metadata = { tags: [...(tags ?? [])] };
      shared.insertCell(at, { cell_type: 'code', source: '', metadata });
    }
    const changed = shared.cells[at];
    if (changed?.getSource() === (before ?? '')) {
      // What was typed a moment ago is another step.
      const history = (changed as { undoManager?: { stopCapturing(): void } | null })
        .undoManager;
      history?.stopCapturing();
      changed.setSource(after);
      history?.stopCapturing();
      all.push({ cell: changed, before: before ?? '', after });
      first = at;
    }
  }
  if (all.length > 1) {
    tie(all);
  }
  return first;
}

/** Half of a change is another program: who takes back one of its cells, or does that again, does so with all. */
function tie(all: readonly IWritten[]): void {
  for (const { cell: own, before, after } of all) {
    own.changed.connect(() => {
      const text = own.getSource();
      // Behind the step that is just made: each cell has a history of its own.
      queueMicrotask(() => {
        for (const other of all.filter(({ cell }) => cell !== own)) {
          const there = other.cell.getSource();
          if (text === before && there === other.after && own.getSource() === text) {
            other.cell.undo();
          } else if (text === after && there === other.before && own.getSource() === text) {
            other.cell.redo();
          }
        }
      });
    });
  }
}
