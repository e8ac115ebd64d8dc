"""Static mode: what the program builds there runs later in an executor, as a graph of which a trace sees no step."""

from __future__ import annotations

from .. import call_stack

_OF_FED = "Index object error"
"""What Paddle itself says of an index into what a loader gives in static mode."""


class StaticGraphError(RuntimeError):
    """The program builds or runs a static graph."""


class StaticGraphs:
    """Whether static mode is on (`paddle.enable_static()`), and what was built in it.

    Attributes:
        is_on: whether it is on; the trace itself stays in dynamic mode.
        where: cell and line where the first graph is built or run; None: none is.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.where: tuple[int, int] | None = None

    def built(self) -> None:
        """A part of a graph is made where the program is now."""
        self.where = self.where or call_stack.place()

    def check(self) -> None:
        """A part of a training step is about to run.

        Raises:
            StaticGraphError: in static mode, where it is a part of a graph.
        """
        if self.is_on:
            self.built()
            raise StaticGraphError

    def explains(self, problem: BaseException) -> bool:
        """Whether a cell ended by it because a graph is not followed: in static mode nothing is as Paddle has it."""
        if isinstance(problem, (OSError, ImportError)) or _OF_FED in str(problem):
            return False
        return isinstance(problem, StaticGraphError) or (self.is_on and self.where is not None)
