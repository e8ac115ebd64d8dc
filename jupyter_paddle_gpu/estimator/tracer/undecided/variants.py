"""Samples of data that is not here, made up so that the program's own code turns them into a batch.

A reader, a `__getitem__` and their transforms say how large their samples are: `resize((224, 224))`, a sentence filled
up to `max_len`. They are run with made-up data, twice, with pictures of other sizes and lists of other lengths: what
comes out alike hangs on the code alone; what does not hangs on the data.
"""

from __future__ import annotations

import dis
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from ..session import current

MOST = 60_000
"""Items that are made up for one batch."""
SECONDS = 1.5
"""Of the processor's time for one variant of it."""


@dataclass(frozen=True)
class Variant:
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

    @property
    def has_more_axes(self) -> bool:
        """Whether an array of which nobody knows how many axes it has gets one more."""
        return self.side == _HIGH

    def otherwise(self) -> Variant:
        """The same with numbers of another type: what is of another type then hangs on a guess."""
        return replace(self, numbers="float64")


_WIDE, _HIGH = (333, 500), (640, 419)
PAIRS = tuple(
    (Variant(short, _WIDE, holds), Variant(long, _HIGH, holds))
    for short, long in ((5, 7), (160, 190), (3_000, 3_300))
    for holds in (True, False)
)
"""Variants that differ, the cheapest first: a reader may want hundreds of samples before it gives a batch."""


class Variants:
    """The variant of made-up samples that the program sees now; None while none are made up."""

    def __init__(self) -> None:
        self.present: Variant | None = None
        self.made: dict[int, Any] = {}
        """What functions of the program gave in this variant, each with the function, by its number with what it was
        given."""
        self.failures = 0
        """Functions that failed when they were run again: with more data they may not."""
        self._left = 0
        self._until = 0.0

    @contextmanager
    def within(self, variant: Variant, most: int = MOST, seconds: float = SECONDS) -> Iterator[None]:
        """Make up what the program asks of data, so many items at most, and for so much of the processor's time."""
        before = self.present, self._left, self._until, self.made
        self.present, self._left, self._until, self.made = variant, most, time.process_time() + seconds, {}
        try:
            yield
        finally:
            self.present, self._left, self._until, self.made = before

    def spend(self, items: int = 1) -> bool:
        """Whether so many more items may be made up."""
        self._left -= items
        return not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether no more is made up: the program is to end then, not to go on behind what fails."""
        return self._left < 0 or time.process_time() > self._until


@contextmanager
def tidied() -> Iterator[None]:
    """Let what is made up go with what made it: the frames of code that failed are in cycles of references, and tensors
    in them would count as the program's. Without the collector running everything new is in its youngest generation."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.collect(0)
        if was_enabled:
            gc.enable()


def present() -> Variant | None:
    """The variant of made-up samples that the program sees now."""
    session = current()
    return None if session is None else session.of(Variants).present


def are_over() -> bool:
    """Whether samples are being made up and no more may be."""
    session = current()
    return session is not None and session.of(Variants).present is not None and session.of(Variants).is_over


def may_spend(items: int = 1) -> bool:
    """Whether so many more items may be made up."""
    session = current()
    return session is not None and session.of(Variants).spend(items)


_EXTENDED_AFTER = 8
"""Bits of the argument of `UNPACK_EX` that count the names before the starred one."""


def unpacked_into(frame: FrameType) -> int | None:
    """Into how many names the statement that runs unpacks (`image, label = sample`); None where it does not."""
    return _unpacked_at(frame.f_code, frame.f_lasti)


@lru_cache(maxsize=256)
def _unpacked_at(code: CodeType, place: int) -> int | None:
    instructions = iter(dis.get_instructions(code))
    for one in instructions:
        if one.offset == place:
            while one.opname.startswith(("CALL", "PRECALL")):  # `head, tail = map(int, line.split())` goes through it
                one = next(instructions)  # noqa: PLW2901 - the unpacking stands right behind it
            if one.opname == "UNPACK_SEQUENCE":
                return one.arg
            if one.opname == "UNPACK_EX" and one.arg is not None:
                return (one.arg & 0xFF) + (one.arg >> _EXTENDED_AFTER) + 1
    return None
