"""Modules that are imported at once and run when somebody first asks for one of their names.

`importlib.util.LazyLoader` is nearly that, but runs the module as soon as a second `import` statement names it.
"""

from __future__ import annotations

import sys
import threading
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec

_lock = threading.RLock()
_running: set[str] = set()


class LazyModule(ModuleType):
    """A module that has not run yet. It knows what the import system asks (`__spec__`, `__path__`, `__file__`)."""

    def __getattr__(self, name: str) -> Any:
        """The first name that is missing runs the module; an exception of its code comes out here."""
        run(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        """All names that the module has."""
        run(self)
        return list(ModuleType.__dir__(self))


def run(module: ModuleType) -> None:
    """Have a lazy module run, unless it is running; any other module is left alone."""
    with _lock:
        name = module.__name__
        if not isinstance(module, LazyModule) or name in _running:
            return
        loader = module.__spec__.loader if module.__spec__ else None
        assert loader is not None
        put_there = {key: value for key, value in vars(module).items() if not key.startswith("__")}
        _running.add(name)
        try:
            loader.exec_module(module)
        finally:
            _running.discard(name)
        module.__class__ = ModuleType  # type: ignore[assignment]  # what it would have been
        vars(module).update(put_there)  # submodules, and what somebody set in the meantime, stand


class _Later:
    """Makes the module and leaves its code to `run`."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        module.__class__ = LazyModule  # only now: the import system has put down what it knows by itself


class Finder:
    """While it is in force (a context manager), the named modules are lazy."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The usual specification with a loader that waits."""
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)  # type: ignore[assignment]  # a loader by its methods
        return spec

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)
