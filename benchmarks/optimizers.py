"""Where every program of the benchmarks is watched: at the updates of Paddle's optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def after_updates(act: Callable[[], None]) -> None:
    """Call `act` behind each update: `step` and `minimize` of each optimizer class that has its own.

    One may call the other; what counts is the outermost call. What `act` raises ends the program.
    """
    import paddle

    depth = 0

    def watched(original: Callable[..., Any]) -> Callable[..., Any]:
        def update(self: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                result = original(self, *args, **kwargs)
            finally:
                depth -= 1
            if depth == 0:
                act()
            return result

        return update

    kinds = [paddle.optimizer.Optimizer]
    while kinds:
        kind = kinds.pop()
        kinds.extend(kind.__subclasses__())
        for name in ("step", "minimize"):
            if name in vars(kind):
                setattr(kind, name, watched(vars(kind)[name]))
