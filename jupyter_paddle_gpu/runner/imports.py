"""Calls when the notebook imports something of interest: nothing is imported that it does not import itself."""

import contextlib
import sys
from typing import Any, Callable, Dict

Hook = Callable[[Any], None]


def watch(hooks: Dict[str, Hook]) -> None:
    """Call each hook with its module (by full name) right after that module has been executed."""
    sys.meta_path.insert(0, _Finder(hooks))


class _Finder:
    """Calls a hook after a module has been executed. No `importlib.abc.MetaPathFinder` by name: to import that takes
    longer than to start Python."""

    def __init__(self, hooks: Dict[str, Hook]) -> None:
        self._hooks = hooks

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        hook = self._hooks.pop(fullname, None)
        if hook is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    _after(spec.loader, hook)
                return spec
        return None


def _after(loader: Any, hook: Hook) -> None:
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        with contextlib.suppress(Exception):
            hook(module)

    loader.exec_module = exec_module
