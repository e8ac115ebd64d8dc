"""What Paddle translates of a layer's Python into a program's, without the files that it keeps the translation in."""

from __future__ import annotations

import io
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import InspectLoader
from itertools import count
from types import SimpleNamespace
from typing import Any

from paddle.jit.dy2static import utils

_numbers = count()


class _File(io.StringIO):
    """A file of source that is read once it was written."""

    sources: dict[str, str]

    name = ""

    def close(self) -> None:
        source = self.sources[self.name] = self.getvalue()
        linecache.cache[self.name] = len(source), None, source.splitlines(keepends=True), self.name
        super().close()


class _Loader(InspectLoader):
    """Loads a module from such a file."""

    def __init__(self, name: str, file: str, source: str) -> None:
        self.name, self._file, self._source = name, file, source

    def get_source(self, fullname: str) -> str:
        return self._source

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self._source, self._file)


@contextmanager
def in_memory() -> Iterator[None]:
    """Translations are kept in memory (`ast_to_func` of dy2static/utils.py writes each into a file of its own)."""
    sources: dict[str, str] = {}

    def open_file(prefix: str = "", suffix: str = "", **_: Any) -> _File:
        file = _File()
        file.name, file.sources = f"{prefix}_{next(_numbers)}{suffix}", sources
        return file

    replaced = {
        "tempfile": SimpleNamespace(NamedTemporaryFile=open_file),
        "SourceFileLoader": lambda name, path: _Loader(name, path, sources[path]),
        "get_temp_dir": lambda: "",
        "DEL_TEMP_DIR": False,
    }
    held = {name: getattr(utils, name) for name in replaced}
    vars(utils).update(replaced)
    try:
        yield
    finally:
        vars(utils).update(held)
        for name in sources:
            linecache.cache.pop(name, None)
