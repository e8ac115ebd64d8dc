"""Traces kept by what they came from: the same cells, answers, request, Paddle and folder give the same trace."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

MOST_ENTRIES = 2000
"""Entries of the notebook's folder that are looked at for changes."""
MOST_FILES = 10_000
"""Files below a script's folder that are looked at: PaddleDetection has 2,500 of them."""
READ_BY_SCRIPTS = frozenset((".py", ".yml", ".yaml", ".json", ".toml", ".ini", ".cfg", ".txt"))
"""Endings of modules, configurations and lists."""

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


def tree_state(folder: Path) -> list[tuple[str, int, int]]:
    """The same of all that a script may read below its folder: modules, configurations, lists. Hidden folders and what
    jobs left are left out."""
    state: list[tuple[str, int, int]] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith((".", "__", "paddle-gpu-runs")))
        for name in sorted(files):
            if os.path.splitext(name)[1] in READ_BY_SCRIPTS:  # noqa: PTH122 - thousands of strings
                path = os.path.join(place, name)  # noqa: PTH118
                try:
                    status = os.lstat(path)
                except OSError:  # it has just gone
                    continue
                state.append((path, status.st_mtime_ns, status.st_size))
        if len(state) > MOST_FILES:
            break
    return state
