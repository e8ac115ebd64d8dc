"""Changes to the training step that are asked for: gradient accumulation and recomputation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import paddle


@dataclass
class Changes:
    """What was asked for the running trace."""

    accumulation: int = 1
    recompute: bool = False
    set_to_zero: bool | None = None
    """What `clear_grad` is called with in the end; None leaves the program's own."""
    blocks: set[int] = field(default_factory=set)
    """Identities of layers to recompute."""
    inside: bool = False
    updates: int = 0


changes = Changes()


def begin(accumulation: int | None, recompute: bool | None, set_to_zero: bool | None = None) -> None:
    """Start a run."""
    global changes  # noqa: PLW0603
    changes = Changes(max(1, accumulation or 1), bool(recompute), set_to_zero)


def skips_update() -> bool:
    """Whether this update is one that accumulation leaves out; counts it."""
    changes.updates += 1
    return changes.updates % changes.accumulation != 0


def keeps_gradients() -> bool:
    """Whether `clear_grad` is left out now: between the micro-batches of one update."""
    return changes.updates % changes.accumulation != 0


def choose_blocks(model: Any) -> None:
    """The layers to recompute: composite layers that repeat inside one container (encoder layers, residual blocks)."""
    if not changes.recompute:
        return
    for container in (model, *model.sublayers()):
        children = list(container._sub_layers.values())
        kinds = Counter(type(child) for child in children)
        changes.blocks.update(id(c) for c in children if c._sub_layers and kinds[type(c)] > 1)


def forward(layer: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a layer, recomputed where it was chosen."""
    wanted = id(layer) in changes.blocks and not changes.inside and layer.training
    tensors = [arg for arg in args if isinstance(arg, paddle.Tensor)]
    if not wanted or not any(not tensor.stop_gradient for tensor in tensors):
        return original(layer, *args, **kwargs)
    from paddle.distributed.fleet.utils import recompute

    def run(*inner: Any, **options: Any) -> Any:
        before, changes.inside = changes.inside, True
        try:
            return original(layer, *inner, **options)
        finally:
            changes.inside = before

    return recompute(run, *args, **kwargs)
