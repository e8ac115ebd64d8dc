"""Traces kept by what they came from: the same cells, answers, request, Paddle and folder give the same trace."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

MOST_ENTRIES = 2000
"""Entries of the notebook's folder that are looked at for changes."""

T = TypeVar("T")


class Cache(Generic[T]):
    """The last `limit` values; the one unused for longest goes. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[bytes, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> T | None:
        """The value, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: bytes, value: T) -> None:
        """Keep a value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)


def trace_key(request: dict[str, Any], folder: Path, python: str, paddle_version: str) -> bytes:
    """Everything that a trace depends on, as one digest."""
    parts = msgspec.json.encode([request, str(folder), python, paddle_version, folder_state(folder)], order="sorted")
    return hashlib.sha256(parts).digest()


def folder_state(folder: Path) -> list[tuple[str, int, int]]:
    """Name, time of change (ns) and size of what lies in the folder: a module or a data file there may be read.

    Notebooks are left out, since saving one changes nothing that its cells do not say; so are hidden files.
    """
    state = []
    try:
        for number, path in enumerate(sorted(folder.iterdir())):
            if number >= MOST_ENTRIES:
                break
            if path.suffix != ".ipynb" and not path.name.startswith("."):
                status = path.lstat()
                state.append((path.name, status.st_mtime_ns, status.st_size))
    except OSError:
        return state
    return state
