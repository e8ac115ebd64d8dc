"""Normalizations of batches, layers, groups, instances, and of a weight by its largest singular value."""

from __future__ import annotations

from math import prod
from typing import Any

from ...memory.dtypes import SIZE
from ...memory.operators import ORIGINAL_OPS
from ..rules import (
    NO_RESULT,
    WITHOUT_MEMORY,
    Amount,
    Amp,
    Arrays,
    Asked,
    Attributes,
    Further,
    Operator,
    Rule,
    Statistics,
    Traced,
    per_element,
)
from .convolution import channels_last


def _normalised_rows(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The normalized input and a product, for the input's gradient a number a row.

    Neither where the bias' gradient alone is asked for (cpu/layer_norm_grad_kernel.cc).
    """
    x = operands[0][0]
    of_x, of_scale = (bool(group) for group in results[:2])
    rows = prod(x.shape[: attrs.get("begin_norm_axis", 1)]) if of_x else 0
    return (2 * x.nbytes if of_x or of_scale else 0) + rows * SIZE[x.dtype]


def _plain_scale(copies: int) -> Amount:
    """Without scale and bias `instance_norm` fills some, of a number a channel (cpu/instance_norm_kernel.cc)."""

    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
        x, scale = operands[0][0], operands[1]
        return 0 if scale else copies * x.shape[1] * SIZE[x.dtype]

    rule.__doc__ = f"Without scale and bias {copies} a channel."
    return rule


def _channel_sums(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two numbers a channel."""
    return 2 * operands[1][0].nbytes if len(operands) > 1 and operands[1] else 0


def _second_of_batches(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Four of the input's size; nine for images, laid out with channels last."""
    x = operands[0][0]
    return (9 if len(x.shape) > 2 and not channels_last(attrs) else 4) * x.nbytes


def _second_of_instances(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Four of the input's size, ones for an absent scale."""
    x, scale = operands[0][0], operands[1]
    return 4 * x.nbytes + (0 if scale else x.shape[1] * SIZE[x.dtype])


def _iteration(copies: int) -> Amount:
    """So many of the weight's size and both vectors of the iteration (measured)."""

    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
        vectors = sorted(group[0].nbytes for group in operands if group)[:2]
        return copies * max(group[0].nbytes for group in operands if group) + sum(vectors)

    rule.__doc__ = f"{copies} of the weight's size and both vectors of the iteration."
    return rule


def _statistics_in_place(session: Traced, original: Any, *args: Any) -> Any:
    """Running mean and variance are updated in place, as the builder's `batch_norm_` does."""
    return session.call("batch_norm", ORIGINAL_OPS["batch_norm_"], args, {})


def _over_cards(session: Traced, original: Any, *args: Any) -> Any:
    """On a GPU as `batch_norm_`, whose results it has; a Paddle for CPUs has no kernel of it and refuses it there."""
    name = "batch_norm_" if session.target == "gpu" else "sync_batch_norm_"
    return session.call(name.rstrip("_") if session.target == "gpu" else name, ORIGINAL_OPS[name], args, {})


_STATISTICS = (1, 2, 3, 4)
"""Running mean and variance, and those of the batch."""
_KEPT = "phi kernels register statistics in float32"

OPERATORS = (
    Operator(
        "batch_norm",
        f"measured to the byte; {_KEPT}",
        Rule(
            instead=_statistics_in_place,
            reads_as={3: Statistics(0), 4: Statistics(0)},
            sized_here=True,
            keeps_sizes=True,
            flops=per_element(5),
            float32_results=_STATISTICS,
            amp=Amp.FIRST_OPERAND,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(flops=per_element(8), workspace=_channel_sums, refused_empty=NO_RESULT),
        second=Rule(workspace=_second_of_batches, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "batch_norm_",
        _KEPT,
        Rule(
            reads_as={3: Statistics(0), 4: Statistics(0)},
            sized_here=True,
            flops=per_element(5),
            float32_results=_STATISTICS,
        ),
    ),
    Operator(
        "sync_batch_norm_",
        f"`gpu/sync_batch_norm_utils.h`; {_KEPT}",
        Rule(instead=_over_cards, sized_here=True, float32_results=_STATISTICS, amp=Amp.FIRST_OPERAND),
    ),
    Operator(
        "layer_norm",
        f"`cpu/layer_norm_grad_kernel.cc`, measured to the byte; {_KEPT}",
        Rule(
            reads_as={1: Statistics(0), 2: Statistics(0)},
            flops=per_element(5),
            float32_results=(1, 2),
            amp=Amp.FIRST_OPERAND,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(flops=per_element(8), workspace=_normalised_rows, refused_empty=NO_RESULT),
    ),
    Operator(
        "instance_norm",
        f"`cpu/instance_norm_kernel.cc`, measured to the byte; {_KEPT}",
        Rule(workspace=_plain_scale(2), float32_results=(1, 2), asked=Asked.EACH_CALL),
        gradient=Rule(
            workspace=_plain_scale(1),
            refused="(InvalidArgument) The X@GRAD in InstanceNormGradInferMeta can't be nullptr.",
        ),
        second=Rule(workspace=_second_of_instances, fills_zeros=True, further=Further.REFUSED),
    ),
    Operator(
        "group_norm",
        _KEPT,
        Rule(
            reads_as={1: Statistics(0), 2: Statistics(0)},
            float32_results=(1, 2),
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(overwrites=(0, "y_grad"), refused_empty=NO_RESULT),
    ),
    Operator("rms_norm", _KEPT, Rule(float32_results=(1,))),
    Operator(
        "spectral_norm",
        "measured to the byte",
        Rule(workspace=_iteration(2)),
        gradient=Rule(workspace=_iteration(5)),
    ),
    Operator("norm renorm renorm_", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
)
