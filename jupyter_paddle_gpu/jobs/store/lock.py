"""A lock that its holder's death releases: no lease to wait for, no clock that can jump."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ...engines import own_files

if sys.platform == "win32":
    import msvcrt

    def _try(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """An exclusive lock on a file, between processes and between objects of one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._guard = threading.Lock()

    def acquire(self) -> bool:
        """Try to hold it, without waiting; True also where this object holds it already. False where it cannot."""
        with self._guard:
            if self._file is not None:
                return True
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                file = own_files.open_append(self._path)
            except OSError:
                return False
            try:
                _try(file)
            except OSError:
                file.close()
                return False
            self._file = file
            return True

    def release(self) -> None:
        """Let go."""
        with self._guard:
            if self._file is not None:
                self._file.close()
                self._file = None

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """Hold it for a while, where it is free."""
        mine = self.acquire()
        try:
            yield mine
        finally:
            if mine:
                self.release()
