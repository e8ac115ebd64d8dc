"""Where Paddle's operator functions are replaced by ones that ask the traced runtime first.

The wrappers are installed once in a process and stay; without a running trace they pass straight through.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paddle import _C_ops
from paddle.base import core

from ..program.inference import ORIGINAL_OPS
from .runtime import Runtime

_current: Runtime | None = None
_installed = False

Override = Callable[..., Any]
OVERRIDES: dict[str, Override] = {}
"""Operators expressed through others: `override(runtime, original, *args, **kwargs)`."""


def current() -> Runtime | None:
    """The runtime of the running trace."""
    return _current


@contextmanager
def tracing(runtime: Runtime | None) -> Iterator[None]:
    """Send operator calls to `runtime`; None lets them run for real."""
    global _current  # noqa: PLW0603 - one place holds which trace runs
    before, _current = _current, runtime
    try:
        yield
    finally:
        _current = before


def override(*names: str) -> Callable[[Override], Override]:
    """Decorator: this function stands for the named operators while a trace runs."""

    def register(function: Override) -> Override:
        for name in names:
            OVERRIDES[name] = function
        return function

    return register


def _wrapped(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def operator(*args: Any, **kwargs: Any) -> Any:
        runtime = _current
        if runtime is None:
            return original(*args, **kwargs)
        special = OVERRIDES.get(name)
        if special is not None:
            return special(runtime, original, *args, **kwargs)
        return runtime.call(name, original, args, kwargs)

    operator.__name__ = name
    return operator


def call(name: str, *args: Any) -> Any:
    """An operator by name, as the user's program would call it."""
    return getattr(_C_ops, name)(*args)


def entry(owner: Any, name: str, traced: Callable[..., Any]) -> None:
    """Replace a function by one that uses `traced(runtime, ...)` while a trace runs."""
    original = getattr(owner, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        runtime = current()
        return original(*args, **kwargs) if runtime is None else traced(runtime, *args, **kwargs)

    function.__name__ = name
    setattr(owner, name, function)


def install() -> None:
    """Replace operator functions in every loaded module of Paddle and on its tensor class."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    replacements: dict[int, Callable[..., Any]] = {}
    for name in dir(_C_ops):
        original = getattr(_C_ops, name)
        if not name.startswith("_") and isinstance(original, types.BuiltinFunctionType):
            ORIGINAL_OPS[name] = original
            replacements[id(original)] = _wrapped(name, original)
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("paddle") and isinstance(module, types.ModuleType) and "libpaddle" not in module_name:
            _replace(module, dict(vars(module)), replacements)
    tensor = core.eager.Tensor
    _replace(tensor, dict(vars(tensor)), replacements)


def _replace(owner: Any, names: dict[str, Any], replacements: dict[int, Callable[..., Any]]) -> None:
    for key, value in names.items():
        if isinstance(value, types.BuiltinFunctionType):
            replacement = replacements.get(id(value))
            if replacement is not None:
                setattr(owner, key, replacement)
