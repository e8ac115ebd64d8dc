"""Questions to NVML that a card, a driver or a permission may leave open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def ask(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """What a card answers, or None where it cannot tell: not supported, not allowed, too old a driver."""
    try:
        return question(*arguments)
    except (nvml.NVMLError, UnicodeDecodeError):
        return None
