"""Files of settings of which the job has a copy of its own: who opens one to read it gets the copy; the person's file
stays as it is, and is what a program of the job's writes into. Of a file that is not there a job may have one that
holds what was answered: who opens it gets that, as long as there is none.

Processes that the notebook starts know of it by an environment variable.
"""

import builtins
import io
import json
import os
import pathlib
from pathlib import Path
from typing import Any, Dict, Mapping

VARIABLE = "PADDLE_GPU_SETTINGS"
"""Holds the copies of both kinds by the paths of the files, as JSON."""
_open = builtins.open
_copies: Dict[str, str] = {}
_answered: Dict[str, str] = {}
"""Those that are read only where there is no file."""


def kept(files: Mapping[str, str], folder: Path, work: str = "", *, answered: bool = False) -> Dict[str, str]:
    """Write copies into the job's folder; raises `OSError`.

    Args:
        files: texts by path.
        work: the folder in which the job runs.
        answered: whether there are no such files; their paths are from `work` if not whole.
    """
    found = {}
    for number, (path, text) in enumerate(sorted(files.items())):
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / ("%s%d-%s" % ("answered-" if answered else "", number, Path(path).name))
        copy.write_bytes(text.encode("utf-8"))
        found[str(Path(work, path)) if answered else _here(path, work)] = str(copy)
    return found


def _here(path: str, work: str) -> str:
    """Where a file of the machine that submitted lies for this process: a container has the folder under the name that
    was written, which may be that of a link, and the path has where the link led."""
    parts = Path(path).parts[1:]
    below = (Path(work, *parts[first:]) for first in range(len(parts)))
    return path if not work or Path(path).exists() else next((str(one) for one in below if one.exists()), path)


def install(copies: Mapping[str, str], answered: Mapping[str, str]) -> None:
    """Have this process, and the scripts that it starts, read the copies.

    Args:
        answered: those that are read only where there is no file.
    """
    if not copies and not answered:
        return
    for known, files in ((_copies, copies), (_answered, answered)):
        known.update({os.path.realpath(path): copy for path, copy in files.items()})
    os.environ[VARIABLE] = json.dumps([dict(copies), dict(answered)])
    builtins.open = io.open = _opened
    accessor = getattr(pathlib, "_NormalAccessor", None)  # up to Python 3.10, which keeps the function itself
    if accessor is not None:
        accessor.open = staticmethod(_opened)


def install_from_environment() -> None:
    """The same in a script that a cell has started."""
    install(*json.loads(os.environ.get(VARIABLE) or "[{}, {}]"))


def are_any() -> bool:
    """Whether the job has such files."""
    return bool(_copies or _answered)


def _opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
    if isinstance(file, (str, os.PathLike)):
        path = os.path.realpath(os.fspath(file))
        if path in _copies:
            if any(letter in mode for letter in "wax+"):
                del _copies[path]  # what the program makes itself is what it reads from then on
            else:
                file = _copies[path]
        elif path in _answered and not any(letter in mode for letter in "wax+") and not Path(path).exists():
            file = _answered[path]
    return _open(file, mode, *given, **named)
