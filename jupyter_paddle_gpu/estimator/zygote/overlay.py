"""Lets user code believe in its writes: files go into the private folder, new folders are not made at all.

Many notebooks make an output folder or write a vocabulary before they train; refusing that would end the estimate
before the training. Nothing outside the private folder changes, and every such wish is noted for the answer. What goes
around Python's `open` and `os.mkdir` is refused by `guard` and by the kernel.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Overlay:
    """Files that were "written", by the path under which user code knows them."""

    def __init__(self, private: str, mine: Callable[[Any], bool], note: Callable[[Any], object]) -> None:
        self._private = private
        self._mine = mine
        self._note = note
        self._files: dict[str, str] = {}
        self._folders: set[str] = set()
        self._open = builtins.open
        self._mkdir = os.mkdir

    def install(self) -> None:
        """Take the place of `open` and `os.mkdir`, for the life of the process."""
        builtins.open = self.open
        io.open = self.open
        os.mkdir = self.mkdir

    def open(self, file: Any, mode: str = "r", *positional: Any, **named: Any) -> Any:
        """`open`, with what would be written outside the private folder kept inside it."""
        if not isinstance(file, (str, bytes, os.PathLike)) or (not self._files and not _writes(mode)):
            return self._open(file, mode, *positional, **named)
        whole = os.path.realpath(os.fsdecode(file))
        if _writes(mode) and whole not in self._files and not self._mine(whole):
            self._note(whole)
            self._files[whole] = self._place(whole, mode)
        return self._open(self._files.get(whole, file), mode, *positional, **named)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """`os.mkdir`; outside the private folder nothing is made."""
        whole = os.path.realpath(os.fsdecode(path))
        if dir_fd is not None or self._mine(whole):
            self._mkdir(path, mode, dir_fd=dir_fd)
        elif os.path.lexists(whole) or whole in self._folders:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        else:
            self._note(whole)
            self._folders.add(whole)

    def _place(self, whole: str, mode: str) -> str:
        """The file's place in the private folder; the errors are those of a real `open`."""
        path, place = Path(whole), f"{self._private}{os.sep}written-{len(self._files)}"
        if "x" in mode and path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), whole)
        missing = not path.exists() if "r" in mode else not (path.parent.is_dir() or str(path.parent) in self._folders)
        if missing:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), whole)
        if path.is_file() and "w" not in mode:
            shutil.copyfile(whole, place)  # what is appended to, or changed in the middle, begins as it is
        return place


def _writes(mode: Any) -> bool:
    return isinstance(mode, str) and any(letter in mode for letter in "wax+")
