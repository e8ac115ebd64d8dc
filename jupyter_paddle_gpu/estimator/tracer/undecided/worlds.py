"""Samples of data that is not here, made up so that the program's own code turns them into a batch.

A reader, a `__getitem__` and their transforms say how large their samples are: `resize((224, 224))`, a sentence filled
up to `max_len`. They are run with made-up data, twice, with pictures of other sizes and lists of other lengths: what
comes out alike hangs on the code alone; what does not hangs on the data.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType, FrameType

from ..session import current

MOST = 60_000
"""Items that are made up for one batch."""


@dataclass(frozen=True)
class World:
    """One way data may be.

    Attributes:
        length: of lists.
        side: height and width of pictures.
        holds: what a condition on the data comes to.
        numbers: the type of numbers of which nobody knows anything: what is looked up in a vocabulary, a label.
    """

    length: int
    side: tuple[int, int]
    holds: bool = True
    numbers: str = "int64"

    def otherwise(self) -> World:
        """The same with numbers of another type: what is of another type then hangs on a guess."""
        return replace(self, numbers="float64")


_WIDE, _HIGH = (333, 500), (640, 419)
PAIRS = tuple(
    (World(short, _WIDE, holds), World(long, _HIGH, holds))
    for short, long in ((5, 7), (160, 190), (3_000, 3_300))
    for holds in (True, False)
)
"""Worlds that differ, the cheapest first: a reader may want hundreds of samples before it gives a batch."""


class Worlds:
    """The world that the program is in while samples are made up; None else."""

    def __init__(self) -> None:
        self.present: World | None = None
        self._left = 0

    @contextmanager
    def within(self, world: World, most: int = MOST) -> Iterator[None]:
        """Make up what the program asks of data, so many items at most."""
        before, left = self.present, self._left
        self.present, self._left = world, most
        try:
            yield
        finally:
            self.present, self._left = before, left

    def spend(self, items: int = 1) -> bool:
        """Whether so many more items may be made up."""
        self._left -= items
        return self._left >= 0


def present() -> World | None:
    """The world that the program is in."""
    session = current()
    return None if session is None else session.of(Worlds).present


def may_spend(items: int = 1) -> bool:
    """Whether so many more items may be made up."""
    session = current()
    return session is not None and session.of(Worlds).spend(items)


_EXTENDED_AFTER = 8
"""Bits of the argument of `UNPACK_EX` that count the names before the starred one."""


def unpacked_into(frame: FrameType) -> int | None:
    """Into how many names the statement that runs unpacks (`image, label = sample`); None where it does not."""
    return _unpacked_at(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=256)
def _unpacked_at(code: CodeType, place: int) -> int | None:
    for one in dis.get_instructions(code):
        if one.offset == place:
            if one.opname == "UNPACK_SEQUENCE":
                return one.arg
            if one.opname == "UNPACK_EX" and one.arg is not None:
                return (one.arg & 0xFF) + (one.arg >> _EXTENDED_AFTER) + 1
    return None
