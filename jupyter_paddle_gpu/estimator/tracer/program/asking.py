"""Asks eager mode itself whether it would take a call: with tensors that have shape and type and no memory.

The program builder leaves out what is checked only when an operator really runs: a convolution's channels, types that
a kernel is not registered for, operands of different types. Eager mode checks all of that before its kernel first looks
at a number; a tensor without memory ends the call there, with a sentence of its own. So what it says before that is
what it would say to the program, and nothing was computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import paddle

from ..kernels.rules import Meta
from ..memory.arrays import without_memory
from ..memory.dtypes import LOW_PRECISION
from ..session import paused, running

_NO_REFUSAL = re.compile(
    r"holds no memory|meta data must be valid|holder_ should not be null|storage must be valid|ResourceExhausted"
    r"|Fail to alloc memory|not compiled with|Place\(undefined:0\) is not supported|bad_alloc"
)
"""What is said of the missing memory, of too little of it, and of a Paddle for CPUs."""
_OF_BOUNDS = re.compile(r"uniform_random's min must less")
"""What is said of bounds: a tensor without memory that stands for one is read as a number of its own."""
_OF_CPU = re.compile(r"for cpu kernel|\(Unavailable\)|The kernel `\w+` is not registered")
"""What kernels say that do nothing on a CPU, and Paddle of an operator that a build for CPUs has no kernel of
(`sync_batch_norm`): no word on what a GPU's does."""
_NO_KERNEL = "The kernel with key"
"""How Paddle begins where no kernel is registered for the types."""
_ONLY_ON_GPU = frozenset(("float8_e4m3fn", "float8_e5m2"))
"""Types that only kernels of a GPU have: what a CPU says of them means nothing to a job on one. Beside low precision,
which is asked for as float32, no other was found where registrations were compared (`gpu/*.cu`, `kps/*.cu`: products,
activations, elementwise operators, `flip`, `where`, `scatter`, `index_select`, `take_along_axis`, `expand_as`)."""
_FEW = 1 << 12
"""Elements of a tensor that is made as large as it is."""
_OF_TYPES = re.compile(_NO_KERNEL + "|The type of data we are trying to retrieve")
"""What is said of types alone."""


@dataclass
class Types:
    """How a session asks for low precision: as float32, unless a CPU would really meet it.

    A CPU knows few kernels for it. Mixed precision that was asked for on a CPU casts there alone, in the trace: real
    Paddle leaves such tensors as they are, so its kernels would refuse what no job sends them.

    Attributes:
        is_exported: whether what is called only becomes part of a program that is saved: the program builder alone is
            asked then, which takes much that a kernel refuses (other channels, labels out of bounds, other types).
    """

    low_as_float32: bool = True
    is_exported: bool = False

    @property
    def key(self) -> tuple[bool, bool]:
        """What one session may call, another refuses."""
        return self.low_as_float32, self.is_exported


def refusal(
    call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], fill: Callable[[Any, list[Any]], Any]
) -> Exception | None:
    """What eager mode says against a call; None where it has nothing to say before it looks at numbers.

    Args:
        call: function, args, kwargs, with places for tensors.
        metas: shape and type of each tensor; low precision is asked for as the session's `Types` say.
        fill: puts tensors into their places.
    """
    function, args, kwargs = call
    if _is_only_on_gpu(metas):
        return None
    metas, running_target = _meant(metas), running().target
    with paused():
        tensors = [without_memory(shape, dtype) for shape, dtype in metas]
        try:
            function(*fill(args, tensors), **fill(kwargs, tensors))
        except MemoryError:
            return None
        except Exception as problem:
            if _NO_KERNEL in str(problem):
                return _typed(call, metas, fill)
            of_cpu = running_target == "gpu" and _OF_CPU.search(str(problem))
            of_bounds = len(metas) > 1 and _OF_BOUNDS.search(str(problem))
            return None if of_cpu or of_bounds or _NO_REFUSAL.search(str(problem)) else problem
    return None


def refused_type(
    call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], fill: Callable[[Any, list[Any]], Any]
) -> Exception | None:
    """What Paddle says where it has no kernel for these types; None where it has one.

    A tensor without memory is on no device, so it is asked with one number each: which kernel runs is decided before
    shapes are looked at.
    """
    if _is_only_on_gpu(metas):
        return None
    metas = _meant(metas)
    with paused():
        return _typed(call, metas, fill)


def refused_backward(
    call: tuple[Callable[..., Any], Any, Any],
    metas: list[Meta],
    wants: list[bool],
    fill: Callable[[Any, list[Any]], Any],
) -> Exception | None:
    """What Paddle says of a backward pass through a call, which is run with ones; None where it goes well, or where the
    call itself does not."""
    function, args, kwargs = call
    metas = [(shape if prod(shape) <= _FEW else (1,) * len(shape), dtype) for shape, dtype in _meant(metas)]
    with paused():
        tensors = [paddle.ones(shape, dtype) for shape, dtype in metas]
        for tensor, want in zip(tensors, wants, strict=True):
            tensor.stop_gradient = not want
        try:
            made = function(*fill(args, tensors), **fill(kwargs, tensors))
        except Exception:
            return None
        learned = [one for one in (made if isinstance(made, (list, tuple)) else [made]) if not one.stop_gradient]
        try:
            paddle.autograd.backward(learned)
        except Exception as problem:
            return problem
    return None


def _typed(
    call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], fill: Callable[[Any, list[Any]], Any]
) -> Exception | None:
    function, args, kwargs = call
    tensors = [paddle.zeros([1] * len(shape), dtype) for shape, dtype in metas]
    try:
        function(*fill(args, tensors), **fill(kwargs, tensors))
    except Exception as problem:
        return problem if _OF_TYPES.search(str(problem)) else None
    return None


def _is_only_on_gpu(metas: list[Meta]) -> bool:
    return running().target == "gpu" and any(dtype in _ONLY_ON_GPU for _, dtype in metas)


def _meant(metas: list[Meta]) -> list[Meta]:
    """Shapes and types to ask with."""
    if not running().of(Types).low_as_float32:
        return metas
    return [(shape, "float32" if dtype in LOW_PRECISION else dtype) for shape, dtype in metas]
