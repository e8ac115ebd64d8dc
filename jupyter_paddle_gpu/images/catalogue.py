"""The images that Paddle publishes, as data with a source in each row (`catalogue.json`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

Standing = Literal["documented", "reported", "inferred"]
_FILE = Path(__file__).with_name("catalogue.json")


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """A place that serves Paddle's images; `until` is the last release it is known to have."""

    name: str
    repository: str
    places: tuple[str, ...] = ()
    until: str = ""
    standing: Standing
    source: str


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU variant of a release: the end of its tag and the compute capabilities its kernels were compiled for.

    Attributes:
        since: capability -> first Paddle release whose build of this name holds it, where that is not the first.
    """

    tag: str
    cuda: str
    architectures: tuple[str, ...]
    since: dict[str, str] = {}
    standing: Standing
    source: str


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """A Paddle release with images, and the tags of its builds."""

    paddle: str
    builds: tuple[str, ...]


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of Paddle's images."""

    standing: str
    registries: tuple[Registry, ...]
    builds: tuple[Build, ...]
    releases: tuple[Release, ...]

    def build(self, tag: str) -> Build:
        """The build of that name; KeyError where there is none."""
        return next((build for build in self.builds if build.tag == tag), None) or _missing(tag)

    def release(self, version: str) -> Release | None:
        """The release of exactly that version."""
        return next((release for release in self.releases if release.paddle == version), None)


def _missing(tag: str) -> Build:
    raise KeyError(tag)


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that is shipped."""
    return msgspec.json.decode(_FILE.read_bytes(), type=Catalogue)


def version_key(version: str) -> tuple[int, ...]:
    """`550.54.14` -> (550, 54, 14), for comparing; parts that are no numbers count as 0."""
    digits = (("".join(c for c in part if c.isdigit()) or "0") for part in version.split("+")[0].split("."))
    return tuple(int(part) for part in digits)
