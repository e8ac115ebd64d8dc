"""The engines there are: ours by one line each, those of other packages by an entry point.

A package adds an engine with, in its `pyproject.toml`,

    [project.entry-points."jupyter_paddle_gpu.engines"]
    slurm = "my_package.slurm:ENGINE"

where `ENGINE` is an `EngineType`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ..domain.messages import Message
from . import docker, local
from .engine_type import EngineType

GROUP = "jupyter_paddle_gpu.engines"
"""Entry points of other packages' engines."""

BUILT_IN: tuple[EngineType[Any], ...] = (
    local.ENGINE,
    docker.ENGINE,
)
"""Ours; the first is the default where no policy names one."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Registry:
    """Engine types by name, the default first, and why others are not among them."""

    types: dict[str, EngineType[Any]]
    problems: tuple[Message, ...] = ()


def load(rows: Iterable[EngineType[Any]] = BUILT_IN, others: Iterable[EntryPoint] | None = None) -> Registry:
    """The registry. An engine of another package that cannot be loaded is left out and told; so is a second one of a
    name, which would take over another engine's jobs."""
    types: dict[str, EngineType[Any]] = {}
    for row in rows:
        if row.name in types:
            raise ValueError(f"two engines are called {row.name}")
        types[row.name] = row
    problems: list[Message] = []
    for point in sorted(entry_points(group=GROUP) if others is None else others, key=lambda point: point.name):
        try:
            row = point.load()
            if not isinstance(row, EngineType):
                raise TypeError(f"{point.value} is no EngineType")  # noqa: TRY301 - told like any other failure
            if row.name in types:
                raise ValueError(f"there is an engine {row.name} already")  # noqa: TRY301
        except Exception as error:  # another package's code: whatever it does, our engines work
            _logger.warning("the engine %s (%s) is left out: %s", point.name, point.value, error)
            problems.append(_left_out(point, error))
            continue
        types[row.name] = row
    return Registry(types, tuple(problems))


def _left_out(point: EntryPoint, error: Exception) -> Message:
    return Message(
        code="engine_not_loaded",
        text="The engine {engine} ({value}) cannot be loaded: {error}.",
        hint="Update or remove the package that brings it.",
        params={"engine": point.name, "value": point.value, "error": f"{type(error).__name__}: {error}"},
    )
