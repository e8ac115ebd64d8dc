"""Modules of the notebook's own, that lie beside it or that its cells have written: what they import and is not here is
passed by as where its cells import it."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from ... import call_stack
from ...patches.absent_modules import IMPORTED, Imports
from ...patches.awaited import calling
from ..processes import forget
from . import helpers
from .helpers import Helpers
from .passing import Passing

_LIBRARIES = f"{os.sep}site-packages{os.sep}"
"""In a path: an environment that lies in the notebook's folder."""


class Beside:
    """Finds the notebook's own modules, and has them run with stand-ins for what they import in vain.

    Args:
        folder: the notebook's.
        written: sources that cells have written, by path: only Python's `open` sees them.
        names: of the notebook, with what stands for a module that its cells lack.
        begins: gives the names that a namespace of its code begins with.
        known: helpers that its cells import.
        passing: where several trainings are looked for.
    """

    def __init__(
        self, folder: str, written: Mapping[str, str], names: dict[str, Any],
        begins: Callable[[str], dict[str, Any]], known: Helpers, *, passing: Passing | None,
    ) -> None:  # fmt: skip
        self._folder, self._written, self._names = os.path.realpath(folder) + os.sep, written, names
        self._begins, self._helpers = begins, known
        self._trainings, self._training = passing, frozenset(() if passing is None else passing.files(folder))
        self._passing: set[str] = set()
        """Modules that go with the trace: those that cells have written, and those that were given a stand-in, of which
        the next trace is to be told, too."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """The module; None for others, which Python finds."""
        if (file := self._written_file(name, path)) is not None:
            self._passing.add(name)
            loader = _Loader(name, file, partial(self._imported, name), self._written[file])
            loader.passing = self._passed(os.path.realpath(file))
            written = ModuleSpec(name, loader, origin=file)
            written.has_location = True
            return calling(written)
        if name in self._helpers.modules and (helper := self._helper(name)) is not None:
            return helper
        is_known = name in self._helpers.modules
        if path is None and not (is_known or any(os.path.exists(self._folder + name + end) for end in ("", ".py"))):  # noqa: PTH110
            return None
        spec: ModuleSpec | None = PathFinder.find_spec(name, path, target)
        origin = os.path.realpath(spec.origin) if spec is not None and spec.origin else ""
        if spec is None or not origin.endswith(".py"):
            return None
        passes = self._passed(origin)
        is_own = origin.startswith(self._folder) and _LIBRARIES not in origin
        if not (is_own or (is_known and passes is not None)):
            return None
        own = _Loader(name, origin, partial(self._imported, name))
        own.passing = passes
        if passes is not None:
            self._passing.add(name)
        spec.loader = own
        return calling(spec)

    def _passed(self, file: str) -> Callable[[ast.Module], ast.Module] | None:
        """What lets trainings of a module be passed by, as those of cells are; None for one that holds none."""
        return None if self._trainings is None or file not in self._training else self._trainings.of_module

    def _written_file(self, name: str, path: Sequence[str] | None) -> str | None:
        """Where a cell has written a module, in one of the folders."""
        for folder in (sys.path if path is None else path) if self._written else ():
            file = os.path.join(os.path.abspath(folder), name.rpartition(".")[2] + ".py")  # noqa: PTH100, PTH118
            if file in self._written:
                return file
        return None

    def _helper(self, name: str) -> Any:
        """A helper of the notebook's that goes on without its data; it goes with the trace."""
        file, source = self._helpers.modules[name]
        self._passing.add(name)
        if self._helpers.answers is None:
            return None
        loader = _Loader(name, file, partial(self._imported, name), source)
        loader.helper = self._begins(file), self._helpers.answers
        is_package = os.path.basename(file) == "__init__.py"  # noqa: PTH119
        found = ModuleSpec(name, loader, origin=file, is_package=is_package)
        if is_package:
            found.submodule_search_locations = [os.path.dirname(file)]  # noqa: PTH120
        found.has_location = True
        return calling(found)

    def _imported(self, name: str, error: ModuleNotFoundError, module: str, _: int, **options: Any) -> Any:
        """What stands for a module that is not here: it is told of at the line of the notebook that needs it."""
        self._passing.add(name)
        return self._names[IMPORTED](error, module, call_stack.line(), **options)

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """While a trace runs."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)
            forget(self._passing)


class _Loader(SourceFileLoader):
    helper: tuple[dict[str, Any], Mapping[str, Any]] | None = None
    """Of a helper that goes on without its data: the names that it begins with, and answers."""
    passing: Callable[[ast.Module], ast.Module] | None = None
    """Lets trainings of the module be passed by."""

    def __init__(self, name: str, path: str, imported: Any, source: str | None = None) -> None:
        super().__init__(name, path)
        self._imported, self._source = imported, source

    def get_code(self, fullname: str) -> CodeType:
        """The module's code, never what was compiled of it as it stands."""
        path = self.get_filename(fullname)
        if self.helper is not None and self._source is not None:
            return helpers.code_of(self._source, path, self.helper[1])
        source = self.get_data(path) if self._source is None else self._source
        return _compiled(source, path) if self.passing is None else _code(self.passing(_tree(source, path)), path)

    def exec_module(self, module: ModuleType) -> None:
        if self.helper is not None:
            own = {name: value for name, value in self.helper[0].items() if name not in {"__name__", "__file__"}}
            vars(module).update({**own, call_stack.HELPER: True})
        vars(module)[IMPORTED] = self._imported
        super().exec_module(module)


@lru_cache(maxsize=1024)
def _compiled(source: bytes | str, path: str) -> CodeType:
    """The code of a module, which each run of the program imports anew."""
    return _code(_tree(source, path), path)


def _tree(source: bytes | str, path: str) -> ast.Module:
    tree: ast.Module = Imports().visit(ast.parse(source, path))
    return tree


def _code(tree: ast.Module, path: str) -> CodeType:
    code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    return code
