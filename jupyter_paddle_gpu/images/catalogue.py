"""The images that Paddle publishes, as data with a source in each row (`catalogue.json`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from ..domain.decoding import decode

Standing = Literal["documented", "reported"]
_FILE = Path(__file__).with_name("catalogue.json")


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """A place that serves Paddle's images; `until` is the last release it is known to have."""

    name: str
    repository: str
    places: tuple[str, ...] = ()
    until: str = ""
    standing: Standing
    source: str


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """Where Paddle's images are, and the releases that have some; the tag of one for CPUs is its release.

    Images for devices stand in their makers' rows (`devices/releases.py`).
    """

    standing: str
    registries: tuple[Registry, ...]
    releases: tuple[str, ...]


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that is shipped."""
    return decode(_FILE.read_bytes(), Catalogue)


def current_registries() -> tuple[str, ...]:
    """The names of the places that serve the newest releases, in the order in which they are tried."""
    return tuple(registry.name for registry in load_catalogue().registries if not registry.until)


def version_key(version: str) -> tuple[int, ...]:
    """`550.54.14` -> (550, 54, 14), for comparing; parts that are no numbers count as 0."""
    digits = (("".join(c for c in part if c.isdigit()) or "0") for part in version.split("+")[0].split("."))
    return tuple(int(part) for part in digits)
