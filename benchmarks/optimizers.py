"""Where every program of the benchmarks is watched: at the updates of Paddle's optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def replace_updates(watched: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put `watched(method)` into the place of `step` and `minimize` of each optimizer class that has its own.

    One may call the other; whoever counts updates looks at the outermost call.
    """
    import paddle

    kinds = [paddle.optimizer.Optimizer]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        for name in ("step", "minimize"):
            if name in vars(kind):
                setattr(kind, name, watched(vars(kind)[name]))
