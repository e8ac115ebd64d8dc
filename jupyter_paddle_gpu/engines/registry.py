"""The engines there are: ours by one line each, those of other packages by an entry point.

A package adds an engine with, in its `pyproject.toml`,

    [project.entry-points."jupyter_paddle_gpu.engines"]
    slurm = "my_package.slurm:ENGINE"

where `ENGINE` is an `EngineType`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from .. import plugins
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


@dataclass(frozen=True)
class Registry:
    """Engine types by name, the default first, and why others are not among them."""

    types: dict[str, EngineType[Any]]
    problems: tuple[Message, ...] = ()


def load(rows: Iterable[EngineType[Any]] | None = None, others: Iterable[EntryPoint] | None = None) -> Registry:
    """The registry, of ours where no others are given."""
    types, problems = plugins.registered(GROUP, EngineType, BUILT_IN if rows is None else rows, others)
    return Registry(types, problems)
