"""Jobs as detached processes of this machine. The engine that is always there."""

from __future__ import annotations

import msgspec

from ..engine_type import EngineContext, EngineType
from .engine import LocalEngine

__all__ = ["ENGINE", "LocalEngine", "LocalSettings"]


class LocalSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the local engine: there is nothing to settle yet."""


def _make(settings: LocalSettings, context: EngineContext) -> LocalEngine:
    return LocalEngine()


ENGINE = EngineType(name="local", settings=LocalSettings, make=_make)
