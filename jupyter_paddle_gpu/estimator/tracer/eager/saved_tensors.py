"""`paddle.autograd.saved_tensors_hooks`: what is kept for the backward pass goes through the user's functions.

fleet's `recompute(use_reentrant=False)` is one use of them: nothing is kept, and the first tensor that is asked for
runs the forward pass again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import paddle

from ..memory.arrays import Array, new_tensor
from .tensors import Tensors

_ONLY_TENSORS = "(InvalidArgument) save_for_backward only support Tensor, list of Tensor, tuple of Tensor."
_WRITTEN_OVER = (
    "(PermissionDenied) Tensor '' used in gradient computation has been modified by an inplace operation. Its version "
    "is {now} but the expected version is {before}. Please fix your code to void calling an inplace operator after "
    "using the Tensor which will used in gradient computation."
)
Hook = Callable[[Any], Any]


class Packed:
    """What the pack hook made of a saved tensor."""

    __slots__ = ("unpack", "value")

    def __init__(self, value: Any, unpack: Hook) -> None:
        self.value, self.unpack = value, unpack

    def array(self, runtime: Tensors) -> Array | None:
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


class Container:
    """What a `PyLayer` saves, as hooks that are on leave it; each reading asks them anew (eager_py_layer.cc)."""

    __slots__ = ("saved", "unpack")

    def __init__(self, runtime: Tensors, saved: Any) -> None:
        self.saved, self.unpack = saved, None
        if (pair := runtime.of(Hooks).pair) is None:
            return
        pack, self.unpack = pair
        self.saved = tuple(_packed(runtime, pack, one) for one in (saved if type(saved) in _SEVERAL else [saved]))

    def read(self) -> Any:
        """What backward is given."""
        return self.saved if self.unpack is None else _unpacked(self.unpack, self.saved)


_SEVERAL = (tuple, list)


def _packed(runtime: Tensors, pack: Hook, value: Any, *, inside: bool = False) -> Any:
    if type(value) in _SEVERAL and not inside:
        return type(value)(_packed(runtime, pack, one, inside=True) for one in value)
    if value is not None and not isinstance(value, paddle.Tensor):
        raise runtime.refused(ValueError(_ONLY_TENSORS))
    return pack(value)


def _unpacked(unpack: Hook, packed: Any) -> Any:
    """Inside of what is saved, a tuple or a list that a hook has made is taken for several tensors."""
    return tuple(type(one)(map(unpack, one)) if type(one) in _SEVERAL else unpack(one) for one in packed)


def register(runtime: Tensors, original: Any, pack: Hook, unpack: Hook) -> None:
    """`core.eager.register_saved_tensors_hooks`."""
    runtime.of(Hooks).pair = pack, unpack


def reset(runtime: Tensors, original: Any) -> None:
    """`core.eager.reset_saved_tensors_hooks`."""
    runtime.of(Hooks).pair = None


def versions(saved: dict[int, Any]) -> dict[int, int]:
    """How often what is saved has been written over, by slot; hooks keep what they like."""
    return {
        slot: item.storage.version
        for slot, item in saved.items()
        if type(item) is not Packed and item.storage is not None
    }


def unpacked(runtime: Tensors, saved: dict[int, Any], before: dict[int, int]) -> dict[int, Array | None]:
    """What gradient kernels read, by slot.

    Args:
        before: their versions when they were saved.

    Raises:
        RuntimeError: one has been written over since (`TensorWrapper::check_inplace_version`).
    """
    if (now := versions(saved)) != before:
        for slot, version in before.items():
            if now.get(slot, version) != version:
                raise runtime.refused(RuntimeError(_WRITTEN_OVER.format(now=now[slot], before=version)))
    return {slot: item.array(runtime) if isinstance(item, Packed) else item for slot, item in saved.items()}


def left(saved: dict[int, Any]) -> dict[int, Any]:
    """What a node keeps after the backward pass: hooks with all that they refer to stay as long as it (measured)."""
    return {slot: item for slot, item in saved.items() if isinstance(item, Packed)}
