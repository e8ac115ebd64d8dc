"""Builds of Paddle's releases for a maker's devices: their tags, the drivers and the cards that they run on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Standing = Literal["documented", "reported", "inferred"]
"""How a row is known: from Paddle's or the maker's documents, second hand, by a documented rule."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """One variant of a release for the maker's devices.

    Attributes:
        tag: the end of its image's tag.
        runtime: version of the maker's runtime that it was made for.
        architectures: compute capabilities that its kernels were compiled for (`8.6`).
        since: capability -> first Paddle release whose build of this name holds it, where that is not the first.
    """

    tag: str
    runtime: str
    architectures: tuple[str, ...]
    since: Mapping[str, str] = field(default_factory=dict)
    standing: Standing
    source: str


@dataclass(frozen=True, kw_only=True)
class DriverRule:
    """The oldest driver for a version of the maker's runtime (`12.6`), or for all of a major one (`12`)."""

    runtime: str
    minimum: str
    standing: Standing
    source: str


@dataclass(frozen=True, kw_only=True)
class ReleaseBuilds:
    """Which of Paddle's own releases run on the maker's devices, and in which build.

    Attributes:
        platform: what the maker calls its runtime (`CUDA`).
        builds: all there are.
        published: Paddle's release -> the ends of its images' tags.
        named: a whole tag, by `{paddle}` and `{build}`.
        written: how tags are written, for people.
        manner: pattern of what people write from memory in the manner of these tags; `paddle` and `runtime` are groups.
        drivers: the oldest drivers.
        runs: (compute capability that kernels were compiled for, that of a card) -> whether they run there.
    """

    platform: str
    builds: tuple[Build, ...]
    published: Mapping[str, tuple[str, ...]]
    named: str
    written: str
    manner: re.Pattern[str]
    drivers: tuple[DriverRule, ...]
    runs: Callable[[tuple[int, int], tuple[int, int]], bool]

    def of(self, paddle: str) -> list[Build]:
        """The builds of a release."""
        ends = self.published.get(paddle, ())
        return [build for build in self.builds if build.tag in ends]

    def tag(self, paddle: str, build: Build) -> str:
        """The tag of a build's image."""
        return self.named.format(paddle=paddle, build=build.tag)

    def minimum_driver(self, runtime: str) -> str | None:
        """The oldest driver for a runtime (`12.6`): the rule for exactly that version before the one for its major."""
        known = {rule.runtime: rule.minimum for rule in self.drivers}
        return known.get(runtime) or known.get(runtime.partition(".")[0])
