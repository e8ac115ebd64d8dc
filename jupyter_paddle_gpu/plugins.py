"""What other packages bring by entry points: engines and device makers. One that fails keeps no other away."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar

from .domain.messages import Message

_logger = logging.getLogger(__name__)


class Row(Protocol):
    """A row of a registry: the name is what people and files call it."""

    @property
    def name(self) -> str:
        """Unique in its registry."""
        ...


R = TypeVar("R", bound=Row)


def registered(
    group: str, kind: type[R], ours: Iterable[R], others: Iterable[EntryPoint] | None = None
) -> tuple[dict[str, R], tuple[Message, ...]]:
    """Our rows by name, then those of other packages, and why some of these were left out.

    Left out is what cannot be loaded, is no row, or has the name of another one.

    Args:
        group: of the entry points; each leads to a row.
        others: these entry points instead of the installed ones.

    Raises:
        ValueError: two of our own have the same name.
    """
    rows: dict[str, R] = {}
    for row in ours:
        if row.name in rows:
            raise ValueError(f"{group} has two rows called {row.name}")
        rows[row.name] = row
    problems: list[Message] = []
    for point in sorted(_installed().select(group=group) if others is None else others, key=lambda point: point.name):
        try:
            row = _row(point, kind)
            if row.name in rows:
                raise ValueError(f"{row.name} is there already")  # noqa: TRY301 - told like any other failure
        except Exception as error:  # another package's code: whatever it does, ours works
            _logger.warning("%s (%s) of %s is left out: %s", point.name, point.value, group, error)
            problems.append(_left_out(point, error))
            continue
        rows[row.name] = row
    return rows, tuple(problems)


@cache
def _installed() -> Any:
    """All entry points, once: a file of every installed package is read. `Any`: its type changed in Python 3.12."""
    return entry_points()


def _row(point: EntryPoint, kind: type[R]) -> R:
    row = point.load()
    if not isinstance(row, kind):
        raise TypeError(f"{point.value} is no {kind.__name__}")
    return row


def _left_out(point: EntryPoint, error: Exception) -> Message:
    return Message(
        code="plugin_not_loaded",
        text="“{name}” ({value}) cannot be loaded: {error}.",
        hint="Update or remove the package that brings it.",
        params={"name": point.name, "value": point.value, "error": f"{type(error).__name__}: {error}"},
    )
