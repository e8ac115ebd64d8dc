"""`paddle.autograd.saved_tensors_hooks`: what is kept for the backward pass goes through the user's functions.

fleet's `recompute(use_reentrant=False)` is one use of them: nothing is kept, and the first tensor that is asked for
runs the forward pass again.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from paddle.base import core

from ..memory.arrays import Array, new_tensor

if TYPE_CHECKING:
    from .runtime import Runtime

Hook = Callable[[Any], Any]


class Packed:
    """What the pack hook made of a saved tensor."""

    __slots__ = ("unpack", "value")

    def __init__(self, value: Any, unpack: Hook) -> None:
        self.value, self.unpack = value, unpack

    def array(self, runtime: Runtime) -> Array | None:
        """What the unpack hook makes of it: the tensor that a gradient kernel reads."""
        tensor = self.unpack(self.value)
        return None if tensor is None else runtime.state(tensor).array


class Hooks:
    """The hooks that are on."""

    def __init__(self) -> None:
        self.pair: tuple[Hook, Hook] | None = None

    def pack(self, saved: dict[int, Any], tensors: list[Any]) -> dict[int, Any]:
        """Saved arrays by slot, each as the pack hook leaves it; the first slots are those of `tensors`."""
        if self.pair is None:
            return saved
        pack, unpack = self.pair
        return {
            slot: Packed(pack(tensors[slot] if slot < len(tensors) else new_tensor(saved[slot])), unpack)
            for slot in sorted(saved)
        }


hooks = Hooks()
"""Those of the running trace."""


def register(runtime: Runtime, pack: Hook, unpack: Hook) -> None:
    """`core.eager.register_saved_tensors_hooks`."""
    hooks.pair = pack, unpack


def reset(runtime: Runtime) -> None:
    """`core.eager.reset_saved_tensors_hooks`."""
    hooks.pair = None


def unpacked(runtime: Runtime, saved: dict[int, Any]) -> dict[int, Array | None]:
    """What gradient kernels read, by slot."""
    return {slot: item.array(runtime) if isinstance(item, Packed) else item for slot, item in saved.items()}


def left(saved: dict[int, Any]) -> dict[int, Any]:
    """What a node keeps after the backward pass: hooks with all that they refer to stay as long as it (measured)."""
    return {slot: item for slot, item in saved.items() if isinstance(item, Packed)}


def install() -> None:
    """Replace the functions that turn hooks on and off, once a process."""
    from .interception import entry

    if not isinstance(core.eager.register_saved_tensors_hooks, FunctionType):
        entry(core.eager, "register_saved_tensors_hooks", register)
        entry(core.eager, "reset_saved_tensors_hooks", reset)
