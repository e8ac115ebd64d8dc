"""Paddle's operators by name: as the user's program calls them, and as they were before a trace could come between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle import _C_ops

ORIGINAL_OPS: dict[str, Callable[..., Any]] = {}
"""Paddle's own operator functions by name, filled when the wrappers are installed."""


def call(name: str, *args: Any) -> Any:
    """An operator by name, as the user's program would call it."""
    return getattr(_C_ops, name)(*args)
