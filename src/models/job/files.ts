/** Lines of a traceback that name a file beside the notebook, such as a module of helpers. */

/** A file below the notebook's folder, and the line in it, from 1. */
export interface IFilePlace {
  file: string;
  line: number;
}

/** As IPython writes it (`File ~/book/helper.py:6, in outer(x)`), and as Python does (`File "/book/helper.py", line 6`). */
const NAMED = /^\s*File (?:"([^"]+\.py)", line (\d+)|(\S.*?\.py):(\d+))/;

/** The file that a line names, where it lies in the folder of the notebook (an absolute path) or below it. */
export function filePlace(text: string, notebook: string): IFilePlace | null {
  const found = NAMED.exec(text);
  if (!found) {
    return null;
  }
  const folder = notebook.slice(0, notebook.lastIndexOf('/') + 1);
  const path = found[1] ?? found[3];
  const file = path.startsWith('~/') ? below(path.slice(1), folder) : after(path, folder);
  return file && !file.includes('site-packages/')
    ? { file, line: Number(found[2] ?? found[4]) }
    : null;
}

function after(path: string, folder: string): string | null {
  return path.startsWith(folder) ? path.slice(folder.length) : null;
}

/** Parts of the path of a home at most: `/home/me/`. */
const HOME_DEPTH = 2;

/** The same where the path begins at the home of somebody (`/book/helper.py`), of which the folder tells the rest. */
function below(path: string, folder: string): string | null {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    if (folder.endsWith(path.slice(0, at + 1))) {
      return path.slice(at + 1);
    }
  }
  // The folder may be that home itself.
  return folder.split('/').length - 2 <= HOME_DEPTH ? path.slice(1) : null;
}
