"""What a container daemon and a registry know of images: handed from the engine to whoever chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec


class LocalImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that the daemon has: all its references, its id, and the digests that registries know it by."""

    id: str
    references: tuple[str, ...]
    digests: tuple[str, ...] = ()
    labels: dict[str, str] = {}


class RegistryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a registry said of a reference: there (with digest), not there, refused, or no answer at all."""

    state: Literal["found", "missing", "refused", "silent"]
    digest: str = ""
    detail: str = ""


AskRegistry = Callable[[str], RegistryAnswer]
"""Asks about one reference; may block for as long as a registry takes."""
