"""Data parallelism: every process holds the whole model, and gradients are gathered in fused buffers.

`paddle.DataParallel` itself runs as it is; its reducer, which is C++, is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from paddle.base import core
from paddle.distributed import parallel

from ...eager.autograd import Accumulation, Node, in_degrees
from ...eager.pylayers import PyLayerNode
from ...eager.tensors import Tensors, running
from ...memory.arrays import elements
from ...memory.dtypes import SIZE, name_of
from ..patch import Patch
from .process_group import Processes


def init_data_parallel(runtime: Tensors, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
    """`DataParallel.__init__`: with a single process it only calls the model."""
    original(self, *args, **kwargs)
    if running().of(Processes).size == 1:
        running().note("data_parallel_single")
        return
    running().of(Processes).kind = running().of(Processes).kind or "data_parallel"
    running().note("data_parallel", devices=running().of(Processes).size)


class Reducer:
    """Stands for `core.EagerReducer`, which gathers dense gradients in fused buffers of two sizes.

    A group's buffer is made anew once the last of its gradients is there, before the one of the pass before goes
    (EagerGroup::ConcatTensors in distributed/collective/reducer.cc; measured with two processes on CPUs). A pass that
    is through lets go of all of them (EagerReducer::FinalizeBackward); gloo's tasks hold what they sent until the next
    pass, NCCL's do not, as nine logs of PASSL's cases say. The last group comes first. A parameter that the first
    outputs do not hang on counts as arrived with the first gradient of each pass, with zeros of its own that stay;
    where its gradient comes all the same, as that of a `PyLayer`'s own forward pass (fleet's `recompute`) does, Paddle
    refuses it (EagerReducer::MarkVarReady). It holds the tensors that the parameters were (`tensors_`): the memory of
    those that are initialized again, which Paddle's initializers do by other tensors, stays.
    """

    def __init__(self, parameters: list[Any], sparse: list[bool], limits: list[int]) -> None:
        self._runtime = running()
        dense = [parameter for parameter, is_sparse in zip(parameters, sparse, strict=True) if not is_sparse]
        self._groups = list(reversed(_groups(dense, limits)))
        self.buffers: list[Any] = [None] * len(self._groups)
        self._waiting: list[int] = []
        self._next = 0
        self._apart: list[tuple[int, Any]] | None = None
        self._ready: frozenset[tuple[int, str]] = frozenset()
        self._zeros: list[Any] = []
        self._tensors = [self._runtime.state(parameter).array for parameter in parameters]
        self._numbers = {id(parameter): number for number, parameter in enumerate(parameters)}
        for place, group in enumerate(self._groups):
            for parameter in group:
                told = self._numbers[id(parameter)], parameter.name
                self._runtime.state(parameter).reduced.append(partial(self._arrived, place, *told))

    def prepare_for_backward(self, outputs: list[Any]) -> None:
        """A backward pass that the processes gather follows; none does inside `no_sync`."""
        self._waiting, self._next = [len(group) for group in self._groups], 0
        if self._apart is None:
            self._apart = self._unused(outputs)
            self._ready = frozenset((self._numbers[id(one)], one.name) for _, one in self._apart)
        for place, _ in self._apart:
            self._waiting[place] -= 1

    def _unused(self, outputs: list[Any]) -> list[tuple[int, Any]]:
        """Parameters that the outputs do not hang on, with their groups; none where layers are compiled, whose graphs
        nobody sees."""
        states = [self._runtime.state(output) for output in outputs]
        reached = in_degrees((state.node for state in states if state.node is not None), _edges)
        if not all(isinstance(node, (Node, PyLayerNode, Accumulation)) for node in reached):
            return []
        ends = {*reached, *(state.accumulation for state in states)}
        every = [(place, one) for place, group in enumerate(self._groups) for one in group]
        return [(place, one) for place, one in every if self._runtime.state(one).accumulation not in ends - {None}]

    def _arrived(self, place: int, number: int, name: str) -> None:
        if not self._waiting:
            return
        if (number, name) in self._ready:
            raise self._runtime.refused(RuntimeError(_READY_BEFORE.format(number=number, name=name)))
        if self._apart and not self._zeros:
            shapes = [(elements(one), name_of(one.dtype)) for _, one in self._apart]
            self._zeros = [self._runtime.create("full", (size,), dtype, None, "gradients") for size, dtype in shapes]
        self._waiting[place] -= 1
        while self._next < len(self._groups) and self._waiting[self._next] <= 0:
            group = self._groups[self._next]
            numel, dtype = sum(elements(parameter) for parameter in group), name_of(group[0].dtype)
            self.buffers[self._next] = self._runtime.create("fused_gradients", (numel,), dtype, None, "gradients")
            self._next += 1
        if self._next == len(self._groups):
            self._waiting = []
            if self._runtime.target == "gpu":
                self.buffers = [None] * len(self._groups)


_READY_BEFORE = (
    "(PreconditionNotMet) Error happened, when parameter[{number}][{name}] has been ready before. Please set "
    "find_unused_parameters=True to traverse backward graph in each step to prepare reduce in advance. If you have "
    "set, there may be several reasons for this error: 1) In multiple reentrant backward phase, some parameters are "
    "reused.2) Using model parameters outside of forward function. Please make sure that model parameters are not "
    "shared in concurrent forward-backward passes."
)


def _edges(node: Any) -> dict[int, Any]:
    return getattr(node, "edges", {})


def reducer(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors,
    original: Any,
    parameters: list[Any],
    groups: Any,
    sparse: list[bool],
    group: Any,
    limits: list[int],
    unused: bool,
) -> Reducer:
    """`core.EagerReducer`."""
    return Reducer(parameters, sparse, limits)


def _groups(parameters: list[Any], limits: list[int]) -> list[list[Any]]:
    """Parameters of the reducer's fused buffers (Eager_AssignGroupBySize in distributed/collective/reducer.cc):
    a group of one type is closed once it has reached its limit; the first limit holds for the first group."""
    closed: list[list[Any]] = []
    opened: dict[str, list[Any]] = {}
    begun: set[str] = set()
    for parameter in parameters:
        dtype = name_of(parameter.dtype)
        group = opened.setdefault(dtype, [])
        group.append(parameter)
        if sum(elements(one) for one in group) * SIZE[dtype] >= limits[dtype in begun]:
            closed.append(opened.pop(dtype))
            begun.add(dtype)
    return closed + list(opened.values())


def patches() -> Iterator[Patch]:
    """The wrapper's constructor, and what gathers gradients."""
    yield Patch(parallel.DataParallel, "__init__", init_data_parallel)
    yield Patch(core, "EagerReducer", reducer)
