"""The least time of a training step on a card, from the maker's sheet.

The roofline (Williams, Waterman, Patterson 2009): a step takes at least its FLOPs over the card's rate for their type,
and at least its bytes over the memory bandwidth.
"""

from __future__ import annotations

from typing import NamedTuple

from ..domain.decisions import Need
from ..domain.devices import Accelerator

_AMPERE = (8, 0)


class Bounds(NamedTuple):
    """Seconds that arithmetic and memory take at least; None where one cannot be told."""

    arithmetic: float | None
    memory: float | None

    @property
    def seconds(self) -> float | None:
        """The larger of both: what a step takes at least."""
        return max((bound for bound in self if bound is not None), default=None)

    @property
    def in_turn(self) -> float | None:
        """Both, one after the other: most of a step's kernels wait for one of them alone, and run in turn."""
        known = [bound for bound in self if bound is not None]
        return sum(known) if known else None


def bounds(need: Need, card: Accelerator) -> Bounds:
    """Both sides of the roofline of a step on a card.

    Products of matrices and convolutions run at the rate of the tensor cores for their type, the rest in FP32; where
    the mix is not known all FLOPs count as products.
    """
    memory = need.bytes_moved / card.bandwidth if need.bytes_moved and card.bandwidth else None
    rate = matrix_rate(need, card)
    if not need.flops or not rate:
        return Bounds(None, memory)
    products = need.flops if need.matrix_flops is None else min(need.matrix_flops, need.flops)
    return Bounds(products / rate + (need.flops - products) / (card.fp32 or rate), memory)


def seconds_per_step(need: Need, card: Accelerator) -> float | None:
    """Lower bound of a training step's time in seconds; None where neither side of the roofline can be told."""
    return bounds(need, card).seconds


def matrix_rate(need: Need, card: Accelerator) -> float | None:
    """Operations a second of products of matrices in the step's precision.

    In FP32 cards with TF32 use it: NVIDIA's from Ampere on, at half their FP16 rate where the sheet does not name it.
    """
    if need.amp in ("O1", "O2"):  # a card with slow FP16 arithmetic (P40) computes it in FP32
        return max(card.fp16 or 0, card.fp32 or 0) or None
    if card.fp32 and card.tf32:
        return max(card.fp32, card.tf32)
    if card.fp32 and card.fp16 and (card.compute_capability or (0, 0)) >= _AMPERE:
        return max(card.fp32, card.fp16 / 2)
    return card.fp32
