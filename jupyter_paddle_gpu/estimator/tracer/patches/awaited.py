"""Places in modules that only some notebooks import: they are replaced when the module is there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType


@dataclass(frozen=True)
class Awaited:
    """A module that may be imported later, or a class of it."""

    module: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module

    def found(self) -> Any:
        """The module or its class, once it is imported; None where this version has no such class."""
        module = sys.modules[self.module]
        return getattr(module, self.name, None) if self.name else module


_calls: dict[str, Callable[[], None]] = {}


def when_imported(module: str, call: Callable[[], None]) -> None:
    """Call this as soon as a module has run: now where it has, else when the notebook imports it."""
    if module in sys.modules:
        call()
        return
    _calls[module] = call
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Calling:
    """Runs a module, then makes its call."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _calls[module.__name__]()


def calling(spec: ModuleSpec) -> ModuleSpec:
    """The spec of a module, which makes its call once it has run, where one waits for it."""
    if spec.name in _calls and spec.loader is not None:
        spec.loader = _Calling(spec.loader)  # type: ignore[assignment]
    return spec


class _Finder:
    """Finds the awaited modules as ever and has them run by `_Calling`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _calls:
            return None
        spec = PathFinder.find_spec(name, path, target)
        return None if spec is None else calling(spec)
