"""Mixed precision: the casts that eager mode's auto_cast inserts, by the installed Paddle's own lists.

The rules are those of paddle/fluid/eager/amp_utils.h and eager_amp_auto_cast.h: operators of the white list run in the
low type, those of the black list in float32; at O1 others run in the low type only if no operand is float32, at O2 in
the low type. Normalisations cast their input alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import paddle
from paddle.amp import amp_lists

from .arrays import known_state
from .dtypes import DATA_TYPE, LOW_PRECISION
from .interception import call, current
from .runtime import Runtime

_ONLY_X = frozenset({"batch_norm", "layer_norm", "sync_batch_norm_", "instance_norm", "group_norm"})
_NEVER = frozenset({"cast", "assign", "full", "full_like", "adam_", "adamw_", "momentum_", "sgd_", "lamb_"})


@dataclass
class Policy:
    """One active auto_cast region."""

    level: str
    dtype: str
    white: set[str] = field(default_factory=set)
    black: set[str] = field(default_factory=set)


@dataclass
class Settings:
    """What was asked for the running trace, and what was seen in the program."""

    level: str | None = None
    dtype: str = "float16"
    seen: str | None = None


settings = Settings()
_installed = False


def begin(level: str | None, dtype: str | None) -> None:
    """Start a run: a level asked for replaces the program's own."""
    global settings  # noqa: PLW0603
    settings = Settings(level, dtype or "float16")


def seen_level() -> str:
    """The level of the run: asked for, or the program's."""
    return settings.level or settings.seen or "off"


def loss_name(runtime: Runtime) -> str | None:
    """The operator that the backward pass began at, as a name for the loss."""
    operations = runtime.ledger.operations
    for index in range(len(operations) - 1, 0, -1):
        if operations[index].phase == "backward" and operations[index - 1].phase == "forward":
            for back in range(index - 1, max(index - 6, -1), -1):
                name = operations[back].name
                if any(word in name for word in ("loss", "entropy", "ctc", "square", "abs", "kldiv", "nll")):
                    return str(name)
            return str(operations[index - 1].name)
    return None


def policy(level: str, dtype: str, white: Any = None, black: Any = None) -> Policy:
    """The lists for a level, with the program's additions."""
    base_white = set(amp_lists.white_list()[dtype][level])
    base_black = set(amp_lists.black_list()[dtype][level])
    if white:
        base_white |= set(white)
        base_black -= set(white)
    if black:
        base_black |= set(black)
        base_white -= set(black)
    return Policy(level, dtype, base_white, base_black)


def _target(active: Policy, name: str, tensors: list[Any]) -> str:
    if name in active.white:
        return active.dtype
    if name in active.black:
        return "float32"
    if active.level == "O2":
        return active.dtype
    return "float32" if any(_dtype(t) == "float32" for t in tensors) else active.dtype


def _dtype(tensor: Any) -> str:
    state = known_state(tensor)
    return str(tensor.dtype).rsplit(".", 1)[-1] if state is None else state.array.dtype


def converter(active: Policy) -> Any:
    """A function for `Runtime.convert`."""

    def convert(name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if name in _NEVER or name.endswith("_grad"):
            return args, kwargs
        tensors: list[Any] = []
        _collect(args, tensors)
        target = _target(active, name, tensors)
        if not any(_needs(tensor, target) for tensor in tensors):
            return args, kwargs
        runtime = current()
        assert runtime is not None
        outer, runtime.convert = runtime.convert, None
        try:
            if name in _ONLY_X:
                return (_cast(args[0], target), *args[1:]), kwargs
            return _cast(args, target), kwargs
        finally:
            runtime.convert = outer

    return convert


def _needs(tensor: Any, target: str) -> bool:
    have = _dtype(tensor)
    return have != target and (have == "float32" or have in LOW_PRECISION)


def _collect(node: Any, found: list[Any]) -> None:
    if isinstance(node, paddle.Tensor):
        found.append(node)
    elif isinstance(node, (list, tuple)):
        for item in node:
            _collect(item, found)


def _cast(node: Any, target: str) -> Any:
    if isinstance(node, paddle.Tensor):
        return call("cast", node, DATA_TYPE[target]) if _needs(node, target) else node
    if isinstance(node, (list, tuple)):
        return type(node)(_cast(item, target) for item in node)
    return node


@contextlib.contextmanager
def casting(active: Policy | None) -> Iterator[None]:
    """Operators inside are cast by the policy; None switches casting off."""
    runtime = current()
    if runtime is None:
        yield
        return
    before, runtime.convert = runtime.convert, None if active is None else converter(active)
    try:
        yield
    finally:
        runtime.convert = before


def install() -> None:
    """Replace `paddle.amp.auto_cast`, once a process."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    original = paddle.amp.auto_cast

    def auto_cast(
        enable: bool = True,
        custom_white_list: Any = None,
        custom_black_list: Any = None,
        level: str = "O1",
        dtype: str = "float16",
        use_promote: bool = True,
    ) -> Any:
        if current() is None:
            return original(enable, custom_white_list, custom_black_list, level, dtype, use_promote)
        return casting(None)

    paddle.amp.auto_cast = auto_cast
