"""Paddle's shared library, loaded by a thread while Python imports what does not need it.

It has hundreds of megabytes, and `dlopen` of it takes a sixth of `import paddle`. Begun before anything else, so this
module imports as little as it can.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

LIBRARY = "paddle.base.libpaddle"
"""The import that needs the library."""
_thread: threading.Thread | None = None


def begin() -> None:
    """Load the library in the background, where there is one."""
    global _thread  # noqa: PLW0603 - a process has one
    path = _path()
    if path:
        _thread = threading.Thread(target=_load, args=(path,), daemon=True)
        _thread.start()
        sys.meta_path.insert(0, _Waiting())


def wait() -> None:
    """Return when the library is loaded, or could not be."""
    if _thread is not None:
        _thread.join()


class _Waiting:
    """Finds nothing, but when the library's import comes by, it is loaded."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """For the import system."""
        if fullname == LIBRARY:
            wait()
            sys.meta_path.remove(self)


def _path() -> Path | None:
    """Where Paddle's library lies; None where it is not loaded in advance."""
    if not sys.platform.startswith("linux"):
        return None
    spec = PathFinder.find_spec("paddle")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(folders[0], "base", "libpaddle.so") if folders else None
    return path if path and path.exists() else None


def _load(path: Path) -> None:
    """`dlopen` as an import does it, but without the interpreter's lock; a failure is left for the import to meet."""
    libc = ctypes.CDLL(None)
    libc.dlopen.restype = ctypes.c_void_p
    libc.dlopen(os.fsencode(path), sys.getdlopenflags())
