"""What of a program is left once a training's step is known: the loop, or the call, that holds the rest of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Leaving(Enum):
    """How a program goes on behind a training of which everything is known."""

    TRAINING = "behind the loop that trains"
    LOOP = "behind the outermost loop: its further rounds are the same"
    PROGRAM = "not at all"


@dataclass(eq=False)
class Passage:
    """A loop, or another statement, that may hold a training.

    Attributes:
        cell, line: where it stands.
        trainings: how many it may hold at most.
        made: optimizers that had been made when it began.
        updates: updates that had ended then.
    """

    cell: int
    line: int
    is_loop: bool
    trainings: int = 1
    made: int = 0
    updates: int = 0


class Passages:
    """Those that the program is in, the outermost first."""

    def __init__(self) -> None:
        self._open: list[Passage] = []

    def enter(self, passage: Passage) -> None:
        """The program comes into one."""
        self._open.append(passage)

    def leave(self, passage: Passage) -> None:
        """The program leaves one, and with it all that is inside."""
        if passage in self._open:
            del self._open[self._open.index(passage) :]

    def holding(self, made: int) -> Passage | None:
        """What holds a training whose optimizers were the first `made` ones of the program: the outermost loop that
        began behind them, so that a loop over settings, each with an optimizer of its own, goes on.

        Where no loop did, it is the outermost such statement, else the innermost of all; None outside of any.
        """
        since = [passage for passage in self._open if passage.made >= made]
        loops = [passage for passage in since if passage.is_loop]
        return next(iter(loops or since or self._open[-1:]), None)

    def outermost(self) -> Passage:
        """The one that holds all others."""
        return self._open[0]

    def told(self, passage: Passage) -> Passage:
        """What stands for a training where people read of it: the call of the function whose loop trains, where that
        call holds no other training, else the loop itself."""
        outside = self._open[: self._open.index(passage) + 1]
        calls = [one for one in outside if not one.is_loop and one.trainings < 2]
        return calls[-1] if calls else passage
