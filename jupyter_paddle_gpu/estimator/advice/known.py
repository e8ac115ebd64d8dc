"""Advice that is known: it hangs on the step, on what is asked and on a device's memory, not on when it is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ...domain.estimates import Estimate
from .. import messages


class _Advice(NamedTuple):
    traces: tuple[object, ...]
    asked: tuple[Any, ...]
    plain: Estimate
    advised: Estimate


class KnownAdvice:
    """The last pieces of advice; safe to use from several threads."""

    def __init__(self, kept: int) -> None:
        self._known: deque[_Advice] = deque(maxlen=kept)

    def of(
        self, traces: Sequence[object], asked: tuple[Any, ...], estimate: Estimate, make: Callable[[], Estimate]
    ) -> Estimate:
        """The estimate with its advice; it is made where a trace is another one than before, or anything else is.

        Args:
            traces: what the estimate rests on. A trace is remembered for as long as nothing that it read has changed:
                the same object tells that.
            asked: whatever else the advice hangs on.
        """
        plain = msgspec.structs.replace(estimate, seconds=None)
        for one in tuple(self._known):
            if _are_same(one.traces, traces) and one.asked == asked and one.plain == plain:
                return msgspec.structs.replace(one.advised, seconds=estimate.seconds)
        advised = make()
        if all(note.code != messages.DETAILS_LATE.code for note in advised.notes):  # else there may be more of it
            self._known.append(_Advice(tuple(traces), asked, plain, advised))
        return advised


def _are_same(known: Sequence[object], traces: Sequence[object]) -> bool:
    return len(known) == len(traces) and all(one is other for one, other in zip(known, traces, strict=True))
