"""Static mode: what the program builds there runs in an executor, operator by operator (`graphs/`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import paddle
from paddle.pir import core as programs

from .. import call_stack
from .layers import Meta

_OF_PADDLE = re.compile(r"\s*\([A-Z]\w+\) ")
"""How Paddle begins: `(InvalidArgument) `."""
_OF_SCOPE = "'NoneType' object has no attribute 'get_tensor'"
_OF_FED = "Index object error"
"""What Paddle itself says of an index into what a loader gives in static mode."""


class StaticGraphError(RuntimeError):
    """The program does something with a static graph that is not followed."""


class StaticGraphs:
    """Whether static mode is on (`paddle.enable_static()`), and what was built in it.

    Attributes:
        is_on: whether it is on.
        where: cell and line of what is not followed; None: all is.
        optimizers: which of them updates a parameter, by its name.
        declared: by name type and shape of what programs are fed with, None for a size that they leave open.
        fed: shapes and types of what a program was fed with last.
        model: class of the layer that was called last from outside any other.
        elements: those of each parameter that the program updates, under a number of its own.
        has_run: whether an executor has run a training step.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.where: tuple[int, int] | None = None
        self.optimizers: dict[str, Any] = {}
        self.has_run = self._is_running = False
        self.declared: dict[str, tuple[str, tuple[int | None, ...]]] = {}
        self.fed: tuple[Meta, ...] = ()
        self.model: str | None = None
        self.elements: dict[int, int] = {}
        self._depth = 0
        self._outer: tuple[Any, Any] | None = None
        """Programs that are built into without one of its own, as they were before the trace."""

    def enter(self) -> None:
        """Static mode is on now; what is built belongs to this trace alone."""
        self.is_on = True
        if self._outer is None:
            outer = programs.switch_main_program(paddle.static.Program())
            self._outer = outer, programs.switch_startup_program(paddle.static.Program())

    def leave(self) -> None:
        """Dynamic mode is on now."""
        self.is_on, self.fed, self.model, self.elements = False, (), None, {}

    @contextmanager
    def building(self, layer: Any) -> Iterator[None]:
        """A layer puts its operators into a program."""
        if not self._depth and layer._sub_layers:
            self.model = type(layer).__name__
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def updated_by(self, optimizer: Any, made: Any) -> None:
        """An optimizer has put its operators into a program; `made`: what its `minimize` has given for that."""
        if isinstance(made, tuple) and len(made) > 1:
            for parameter, _ in made[1]:
                self.optimizers.setdefault(parameter.name, optimizer)

    def close(self) -> None:
        """The trace is over."""
        if self.is_on:
            self.is_on = False
            paddle.disable_static()
        if self._outer is not None:
            main, startup = self._outer
            programs.switch_main_program(*main)
            programs.switch_startup_program(startup[0] if isinstance(startup, tuple) else startup)
            self._outer = None

    def refused(self) -> NoReturn:
        """Something that is not followed stands where the program is now.

        Raises:
            StaticGraphError: always.
        """
        self.where = self.where or call_stack.place()
        raise StaticGraphError

    @contextmanager
    def running(self) -> Iterator[None]:
        """An executor runs a training step: what follows is part of one that is followed."""
        self._is_running = self.has_run = True
        try:
            yield
        finally:
            self._is_running = False

    def check(self) -> None:
        """A part of a training step in dynamic mode is about to run.

        Raises:
            StaticGraphError: in static mode, where it is a part of a graph.
        """
        if self.is_on and not self._is_running:
            self.refused()

    def refuses(self, problem: BaseException) -> bool:
        """Whether Paddle says it of what is built or run in static mode, where all but its executor is real."""
        return self.is_on and isinstance(problem, Exception) and bool(_OF_PADDLE.match(str(problem)))

    def explains(self, problem: BaseException) -> bool:
        """Whether a cell ended by it because a graph is not followed: behind that nothing is as Paddle has it."""
        if isinstance(problem, (OSError, ImportError)) or _OF_FED in str(problem):
            return False
        if self.is_on and _OF_SCOPE in str(problem):  # the program looks for a parameter in a scope, where none is
            self.where = self.where or call_stack.ended_at(problem)
        return isinstance(problem, StaticGraphError) or (self.is_on and self.where is not None)
