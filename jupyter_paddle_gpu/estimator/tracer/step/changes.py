"""Changes to the training step that are asked for: accumulation, recomputation, what becomes of gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import paddle

_IN_GRAPH = paddle.pir.Value
PASSES = 3
"""Passes over its data that a loop makes at most for one micro-batch of an update: two updates are seen in them."""


@dataclass
class Changes:
    """What of the step is asked to be otherwise, and what that has come to so far."""

    accumulation: int = 1
    recompute: bool | None = None
    """Whether repeated blocks are recomputed; False: what the program recomputes itself is kept; None: as it is."""
    set_to_zero: bool | None = None
    """What `clear_grad` is called with in the end; None leaves the program's own."""
    blocks: set[int] = field(default_factory=set)
    """Identities of layers to recompute."""
    inside: bool = False
    attempts: int = 0
    """Updates that the program asked for."""
    counts: Counter[int] = field(default_factory=Counter)
    """Updates asked for by each optimizer."""
    held: set[int] = field(default_factory=set)
    """Identities of parameters whose gradients are being summed."""
    ended: Callable[[], bool] = bool
    """Whether a whole step was seen."""

    def skips_update(self, optimizer: Any) -> bool:
        """Whether this update is one that accumulation leaves out; counts it. Each optimizer has its own turn."""
        self.attempts += 1
        if self.accumulation == 1:
            return False
        self.counts[id(optimizer)] += 1
        skipped = self.counts[id(optimizer)] % self.accumulation != 0
        (self.held.update if skipped else self.held.difference_update)(map(id, parameters(optimizer)))
        return skipped

    def keeps_gradient(self, tensor: Any) -> bool:
        """Whether `clear_grad` is left out now: between the micro-batches of one update."""
        return id(tensor) in self.held

    def wants_more(self, before: int, passes: int) -> bool:
        """Whether a loop over data goes on from its beginning: it updates, and too rarely for a whole step to be seen.

        Args:
            before: updates asked for when the loop began.
            passes: how often it went through its data.
        """
        trains = self.accumulation > 1 and self.attempts > before
        return trains and passes <= PASSES * self.accumulation and not self.ended()

    def choose_blocks(self, model: Any) -> None:
        """The layers to recompute: composites that repeat inside one container (encoder layers, residual blocks)."""
        if not self.recompute:
            return
        for container in (model, *model.sublayers()):
            children = list(container._sub_layers.values())
            kinds = Counter(type(child) for child in children)
            self.blocks.update(id(c) for c in children if c._sub_layers and kinds[type(c)] > 1)

    def forward(self, layer: Any, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a layer, recomputed where it was chosen."""
        wanted = id(layer) in self.blocks and not self.inside and layer.training
        tensors = [arg for arg in args if isinstance(arg, paddle.Tensor)]
        if not wanted or not any(not tensor.stop_gradient for tensor in tensors):
            return original(layer, *args, **kwargs)
        from paddle.distributed.fleet.utils import recompute

        def run(*inner: Any, **options: Any) -> Any:
            before, self.inside = self.inside, True
            try:
                return original(layer, *inner, **options)
            finally:
                self.inside = before

        if paddle.distributed.get_world_size() > 1:  # as a job's copy has it: `DataParallel` refuses a `PyLayer`'s
            kwargs = {**kwargs, "use_reentrant": False}
        return recompute(run, *args, **kwargs)


def parameters(optimizer: Any) -> Iterator[Any]:
    """What an optimizer updates, its groups one after the other; what stands for parameters in a graph is none."""
    for entry in getattr(optimizer, "_parameter_list", None) or ():
        for one in entry["params"] if isinstance(entry, dict) else (entry,):
            if not isinstance(one, _IN_GRAPH):
                yield one


def plain(optimizer: Any) -> Any:
    """The optimizer inside of the wrappers of distributed training."""
    inner = vars(optimizer).get("_inner_opt") or vars(optimizer).get("_optim")
    return optimizer if inner is None or inner is optimizer else plain(inner)
