"""The scratch program in which Paddle's operators build values instead of running kernels.

They do so while no eager tracer is set, also when Python believes itself in dynamic mode.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import paddle
from paddle import _C_ops
from paddle.base import core, framework
from paddle.pir import create_shaped_type
from paddle.pir.core import switch_main_program

from ..memory.dtypes import DATA_TYPE
from ..memory.operators import ORIGINAL_OPS

_restore_program: Callable[..., Any] = switch_main_program
_anywhere: Any = core.Place
_PLACE = "pd_op.data"
Built = TypeVar("Built")


class Scratch:
    """One program that is used for one call after the other.

    What a call built is taken out again: Paddle lists all operations of a program whenever some are asked for. What
    stands for tensors stays, and is given another shape: an operation of its own takes twenty times as long (measured,
    Paddle 3.3.1), most of it for a look at what kernels are registered.
    """

    def __init__(self) -> None:
        self._program: Any = None
        self._places: dict[tuple[str, bool], list[Any]] = {}
        """Values by type and whether a gradient flows to them."""
        self._used: Counter[tuple[str, bool]] = Counter()
        """How many of each stand in what is being built."""
        self._data: Any = ORIGINAL_OPS.get("data", _C_ops.data)

    def build(self, call: Callable[[Any], Built]) -> Built:
        """What is made of the program's block while Paddle's operators build; nothing of the program may outlive it."""
        if self._program is None:
            self._program = paddle.static.Program()
        block = self._program.global_block()
        before = block.num_ops()
        self._used.clear()
        tracer = framework.global_var._dygraph_tracer_
        switch_tracer = getattr(core, "_switch_tracer")  # noqa: B009 - not in Paddle's stubs
        outer = switch_main_program(self._program)
        switch_tracer(None)
        try:
            with without_call_stacks():
                return call(block)
        finally:
            switch_tracer(tracer)
            _restore_program(*outer)
            for operation in reversed(block.ops[before:]):
                if operation.name() != _PLACE:
                    block.remove_op(operation)

    def place(self, shape: tuple[int, ...], dtype: str, want: bool) -> Any:
        """A value that stands for a tensor, another one each time within a call."""
        kind = dtype, want
        there, used = self._places.setdefault(kind, []), self._used[kind]
        self._used[kind] += 1
        if used == len(there):
            there.append(self._data("x", list(shape), DATA_TYPE[dtype], _anywhere()))
            there[used].stop_gradient = not want
        else:
            there[used].set_type(create_shaped_type(there[used].type(), list(shape)))
        return there[used]


@contextmanager
def without_call_stacks() -> Iterator[None]:
    """Paddle notes Python's call stack with every operation it builds: a third of the time, and nobody reads it."""
    before, traceback.extract_stack = traceback.extract_stack, _no_call_stack
    try:
        yield
    finally:
        traceback.extract_stack = before


def _no_call_stack(*args: Any, **kwargs: Any) -> traceback.StackSummary:
    return traceback.StackSummary()
