"""Optimizers: their updates are counted, and what they allocate is their state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import paddle
from paddle.distributed.fleet.meta_optimizers.dygraph_optimizer import hybrid_parallel_optimizer

from ..eager.tensors import Tensors
from ..session import Session
from ..step.steps import StepWatch
from .patch import Patch

_UPDATES = ("step", "minimize")
_ALLOCATIONS = ("_add_accumulator", "_create_master_weight", "_create_global_learning_rate")


def _update(session: Session, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    return session.of(StepWatch).update(optimizer, lambda: original(optimizer, *args, **kwargs))


def _allocate(runtime: Tensors, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    with runtime.ledger.allocating("optimizer_state"):
        return original(optimizer, *args, **kwargs)


def _create(session: Session, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> None:
    original(optimizer, *args, **kwargs)
    session.of(StepWatch).created(optimizer)


def patches() -> Iterator[Patch]:
    """Of every optimizer what it defines itself (`AdamW.__init__` calls no other); of fleet's the updates."""
    base = paddle.optimizer.Optimizer
    for kind in _subclasses(base):
        yield from (Patch(kind, name, _update) for name in _UPDATES if name in vars(kind))
        yield from (Patch(kind, name, _allocate) for name in _ALLOCATIONS if name in vars(kind))
        if "__init__" in vars(kind):
            yield Patch(kind, "__init__", _create)
    hybrid = hybrid_parallel_optimizer.HybridParallelOptimizer
    yield from (Patch(hybrid, name, _update) for name in _UPDATES if name in vars(hybrid))


def _subclasses(kind: Any) -> list[Any]:
    found = [kind]
    for child in kind.__subclasses__():
        found.extend(one for one in _subclasses(child) if one not in found)
    return found
