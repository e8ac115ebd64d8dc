"""What code holds of trainings, and where."""

from __future__ import annotations

from dataclasses import dataclass

SEVERAL = 2
"""What counts as several trainings: how many more there are does not matter."""


@dataclass(frozen=True)
class Site:
    """A statement that trains: its cell, its first and last line, and how many trainings it may hold at most."""

    cell: int
    line: int
    end: int
    trainings: int


@dataclass(frozen=True)
class Holding:
    """What a piece of code holds: parts of a step outside of its loops, whole trainings, the making of optimizers."""

    steps: bool = False
    trainings: int = 0
    makes: bool = False

    @property
    def trains(self) -> bool:
        """Whether anything of a training is in it."""
        return self.steps or self.trainings > 0

    def __or__(self, other: Holding) -> Holding:
        together = min(self.trainings + other.trainings, SEVERAL)
        return Holding(self.steps or other.steps, together, self.makes or other.makes)

    def repeated(self) -> Holding:
        """The same in a loop: one training, however its parts are divided, unless each round makes an optimizer."""
        if not self.trains:
            return self
        return Holding(False, SEVERAL if self.makes and self.trainings else 1, self.makes)
