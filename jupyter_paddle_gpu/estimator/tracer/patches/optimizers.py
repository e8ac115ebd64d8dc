"""Optimizers: their updates are counted, and what they allocate is their state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.distributed.fleet.meta_optimizers.dygraph_optimizer import (
    dygraph_sharding_optimizer,
    hybrid_parallel_optimizer,
)
from paddle.distributed.fleet.utils import mix_precision_utils

from ..eager.tensors import Tensors
from ..program.scratch import without_call_stacks
from ..session import Session
from ..step.changes import Changes
from ..step.static_graphs import StaticGraphs
from ..step.steps import StepWatch
from . import hyperparameters
from .patch import Patch

_UPDATES = ("step", "minimize")
_OF_FLEET = (
    (hybrid_parallel_optimizer.HybridParallelOptimizer, (*_UPDATES, "_step")),
    (mix_precision_utils.MixPrecisionOptimizer, _UPDATES),
)
"""Updates of what fleet wraps an optimizer in: `_step` is what PaddleNLP's trainer calls, and gradients in float32 are
applied without the wrapped one's `step`."""
_CLEARS_WIDE = (mix_precision_utils.MixPrecisionOptimizer, dygraph_sharding_optimizer.DygraphShardingOptimizer)
"""They clear gradients in float32 that are kept beside the parameters (`main_grad`)."""
_ALLOCATIONS = ("_add_accumulator", "_create_master_weight", "_create_global_learning_rate")


def _update(session: Session, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    graphs = session.of(StaticGraphs)
    if graphs.is_on:
        with without_call_stacks():
            made = original(optimizer, *args, **kwargs)
        graphs.updated_by(optimizer, made)
        return made
    return session.of(StepWatch).update(optimizer, lambda: original(optimizer, *args, **kwargs))


_SEARCHES = (None, "strong_wolfe")
"""What `LBFGS` has for a line search."""


def _search(session: Tensors, original: Callable[..., Any], optimizer: Any, closure: Any) -> Any:
    """L-BFGS: after the first update its history is full, as it is in every step once there were that many."""

    def step() -> Any:
        try:
            loss = original(optimizer, closure)
        except RuntimeError as problem:  # behind numbers that nobody knows, for a word that stands in the program
            raise problem if optimizer.line_search_fn in _SEARCHES else session.refused(problem) from None
        _fill(session, optimizer)
        return loss

    return session.of(StepWatch).update(optimizer, step)


def _fill(session: Tensors, optimizer: Any) -> None:
    """Changes of the parameters and of their gradients, each as long as all parameters, and a number for each pair."""
    state, most = optimizer.state, optimizer.history_size
    direction = state.get("d")
    missing = 0 if direction is None else most - len(state["old_yk"])
    if missing <= 0:
        return
    whole = session.state(direction).array
    with session.ledger.allocating("optimizer_state"):
        for name, shape in (("old_yk", whole.shape), ("old_sk", whole.shape), ("ro", ())):
            state[name][:0] = [session.create("history", shape, whole.dtype) for _ in range(missing)]
    session.note("history_full", pairs=most)


def _allocate(runtime: Tensors, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    with runtime.ledger.allocating("optimizer_state"):
        return original(optimizer, *args, **kwargs)


def _creating(kind: Any) -> Callable[..., None]:
    """The constructor of an optimizer."""
    taken = hyperparameters.arguments(kind.__init__, kind)

    def create(session: Session, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> None:
        hyperparameters.call(taken, session, original, optimizer, *args, **kwargs)
        session.of(StepWatch).created(optimizer)

    return create


def _clear(session: Session, original: Callable[..., Any], optimizer: Any, set_to_zero: bool = True) -> None:
    asked = session.of(Changes).set_to_zero
    original(optimizer, set_to_zero if asked is None else asked)


def patches() -> Iterator[Patch]:
    """Of every optimizer what it defines itself (`AdamW.__init__` calls no other); of fleet's the updates."""
    base = paddle.optimizer.Optimizer
    for kind in _subclasses(base):
        updates: dict[str, Callable[..., Any]] = {name: _update for name in _UPDATES if name in vars(kind)}
        if kind is paddle.optimizer.LBFGS:
            updates["step"] = _search
        yield from (Patch(kind, name, update) for name, update in updates.items())
        yield from (Patch(kind, name, _allocate) for name in _ALLOCATIONS if name in vars(kind))
        if "__init__" in vars(kind):
            yield Patch(kind, "__init__", _creating(kind))
    for kind, names in _OF_FLEET:
        yield from (Patch(kind, name, _update) for name in names if name in vars(kind))
    yield from (Patch(kind, "clear_grad", _clear) for kind in _CLEARS_WIDE)


def _subclasses(kind: Any) -> list[Any]:
    found = [kind]
    for child in kind.__subclasses__():
        found.extend(one for one in _subclasses(child) if one not in found)
    return found
