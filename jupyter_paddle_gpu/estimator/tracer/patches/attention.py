"""Which kernel computes attention: on a GPU one that keeps no scores, which Paddle's own modules choose by the device.

A build for CPUs has neither the kernels nor the flags that say so; Paddle's checks of shapes, types and masks run as
they are. Cards of compute capability 8.0 and later are meant: on older ones CUTLASS's kernel takes the place of flash
attention for float16, and keeps as much.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import paddle
from paddle.base import framework
from paddle.nn.functional import flash_attention

from ..session import Session
from .absent_devices import CAPABILITY, flag_values
from .patch import Patch, Replacement

try:
    from paddle.nn.attention import sdpa as backends
    from paddle.nn.functional import sdpa
except ImportError:  # before Paddle 3.3
    backends = sdpa = None

_KNOWN = {
    "flash_attn": {"support_dtypes": (paddle.float16, paddle.bfloat16)},
    "mem_efficient_attn": {"support_dtypes": (paddle.float16, paddle.bfloat16, paddle.float32)},
}
"""What `init_config` of `nn/functional/sdpa.py` finds on such a card."""


@dataclass
class Backends:
    """Which kernels the program allows; None: all that there are."""

    allowed: tuple[Any, ...] | None = None


def _allowed(session: Session, original: Replacement) -> Any:
    """`_get_enabled_backends`."""
    if session.target != "gpu":
        return original()
    allowed = session.of(Backends).allowed
    every = (backends.SDPBackend.MATH, backends.SDPBackend.FLASH_ATTENTION, backends.SDPBackend.EFFICIENT_ATTENTION)
    return list(every if allowed is None else allowed)


def _allow(session: Session, original: Replacement, allowed: Any) -> None:
    """`_set_enabled_backends`, which `sdp_kernel` and `sdpa_kernel` call."""
    if session.target == "gpu":
        session.of(Backends).allowed = tuple(allowed)
    else:
        original(allowed)


def _chosen(session: Session, original: Replacement, params: Any) -> str:
    """`select_sdp_for_sdpa`, below `scaled_dot_product_attention`."""
    if session.target != "gpu":
        return str(original(params))
    before, sdpa._config = sdpa._config, _KNOWN
    try:
        return str(original(params))
    finally:
        sdpa._config = before


def _by_width(session: Session, original: Replacement, head_dim: int) -> str:
    """`_select_sdp`, below `flash_attention`: it asks Paddle for its device."""
    if session.target != "gpu":
        return str(original(head_dim))
    kinds = backends.SDPBackend
    allowed = _allowed(session, original)
    if kinds.FLASH_ATTENTION in allowed and kinds.EFFICIENT_ATTENTION in allowed:
        return str(flash_attention._select_sdp_cuda(head_dim))
    if kinds.FLASH_ATTENTION in allowed:
        return "flash_attn"
    return "mem_efficient" if kinds.EFFICIENT_ATTENTION in allowed else "math"


def _on_gpu(session: Session, original: Replacement, *args: Any) -> bool:
    return session.target == "gpu" or bool(original(*args))


def _capability(session: Session, original: Replacement, device: int) -> Any:
    return CAPABILITY if session.target == "gpu" else original(device)


def patches() -> Iterator[Patch]:
    """What chooses, in the versions of Paddle that choose by backends."""
    if sdpa is None:
        return
    yield Patch(backends, "_get_enabled_backends", _allowed, everywhere=True)
    yield Patch(backends, "_set_enabled_backends", _allow, everywhere=True)
    yield Patch(sdpa, "select_sdp_for_sdpa", _chosen)
    yield Patch(sdpa, "check_all_tensors_on_device", _on_gpu)
    yield Patch(sdpa, "check_flash_attention_hardware_support", _on_gpu)
    yield Patch(sdpa, "check_mem_efficient_hardware_support", _on_gpu)
    yield Patch(sdpa, "get_device_capability", _capability)
    yield Patch(flash_attention, "_select_sdp", _by_width)


@contextmanager
def chosen_for(session: Session) -> Iterator[None]:
    """The same choices where Paddle builds a program and the trace is paused."""
    owners = [one for one in (backends, sdpa, flash_attention) if one is not None]
    held = [(owner, one.name, one.replacement) for one in patches() for owner in owners if one.name in vars(owner)]
    held += [(owner, "get_flags", flag_values) for owner in (paddle, framework)]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in held]
    for (owner, name, replacement), (*_, original) in zip(held, before, strict=True):
        setattr(owner, name, partial(replacement, session, original))
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


@contextmanager
def asked_by_layers(session: Session) -> Iterator[None]:
    """A layer that Paddle translates into a program, while the trace is paused, hears what it hears elsewhere of CUDA,
    and takes the attention that it has there; Paddle's own modules are told the truth."""
    original = paddle.is_compiled_with_cuda

    @wraps(original)
    def has_cuda() -> bool:
        asking = str(sys._getframe(1).f_globals.get("__name__"))
        return bool(original()) if asking.partition(".")[0] == "paddle" else session.target == "gpu"

    paddle.is_compiled_with_cuda = has_cuda
    try:
        yield
    finally:
        paddle.is_compiled_with_cuda = original
