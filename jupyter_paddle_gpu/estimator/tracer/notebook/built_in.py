"""What rewritten code calls, among Python's built-ins: code may list the names of its own module, and finds in it what
it wrote there. Data of unknown content is none of them: libraries compare functions with each of the built-ins."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..undecided import conversions
from .beyond.code import EVERY, every
from .cells import late_rounds, within
from .cells.loops import ALIKE, LOOP, TURNS, Turns, alike, loop
from .cells.passing import IN_PLACE, PASSING, passing
from .outside import leaving, presumed

_FIXED: dict[str, Any] = {
    PASSING: passing,
    ALIKE: alike,
    LOOP: loop,
    TURNS: Turns,
    EVERY: every,
    late_rounds.LATE: late_rounds.late,
    late_rounds.COUNT: late_rounds.count,
    late_rounds.DONE: late_rounds.done,
    presumed.ABSENT: presumed.absent,
    leaving.LEFT: leaving.left,
    **conversions.NAMES,
    **within.NAMES,
}
"""By the name under which code finds it."""
NAMES = frozenset((*_FIXED, IN_PLACE, within.ABSORBS))
"""Those that stand there while a trace runs, in each process that its program starts."""


@contextlib.contextmanager
def known(in_place: Callable[[Any], Any], absorbs: Callable[[BaseException], bool]) -> Iterator[None]:
    """While a trace runs.

    Args:
        in_place: makes code of a text that `exec` is given.
        absorbs: whether a statement within a function is passed by that ended so (`within`).
    """
    vars(builtins).update({**_FIXED, IN_PLACE: in_place, within.ABSORBS: absorbs})
    try:
        yield
    finally:
        for name in NAMES:
            vars(builtins).pop(name, None)
