"""Losses, and the names by which users know them; and the share of right answers."""

from __future__ import annotations

from ...memory.dtypes import SIZE
from .. import bounds, shapes
from ..promotion import WIDER
from ..rules import Arrays, Asked, Attributes, Operator, Rule, Strides, per_element


def _ctc(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Forward variables and probabilities (an element too many), the kernel's padded logits and unpadded labels."""
    logits, labels = operands[0][0], operands[1][0]
    steps, batch, symbols = logits.shape
    size, longest = SIZE[logits.dtype], 2 * labels.shape[-1] + 1
    each = size * (symbols + longest * steps + longest) + 12 * longest
    elements = (batch * each + logits.nbytes) // size + 1
    return elements * size + logits.nbytes + labels.numel * 4


_API = "`nn/functional/loss.py`"
_STRIDES = "strided operands: measured (`test_strided_operands.py`)"

OPERATORS = (
    Operator(
        "cross_entropy_with_softmax",
        _STRIDES + "; `TransToFluidOpName`",
        Rule(
            flops=per_element(5),
            amp_name="softmax_with_cross_entropy",
            loss="cross_entropy",
            refuses=bounds.labels,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(flops=per_element(2), overwrites=(0, "softmax"), refuses=bounds.label_types),
    ),
    Operator(
        "warpctc",
        "get_workspace_size in `ctc_entrypoint.cpp`, `warpctc_kernel_impl.h`, measured to the byte; " + _STRIDES,
        Rule(
            strides=Strides.KEPT,
            workspace=_ctc,
            loss="ctc_loss",
            reads_as={1: "int32", 2: "int64", 3: "int64"},
            asked=Asked.EACH_CALL,
        ),
    ),
    Operator(
        "warprnnt",
        "`impl/warprnnt_kernel_impl.h`",
        Rule(reads_as={1: "int32", 2: "int32", 3: "int32"}, refuses=shapes.transduced),
    ),
    Operator(
        "huber_loss",
        _STRIDES,
        Rule(strides=Strides.KEPT, promotes=WIDER, loss="smooth_l1_loss", asked=Asked.EACH_CALL),
    ),
    Operator(
        "nll_loss", _API, Rule(loss="nll_loss", reads_as={1: "int64"}, refuses=bounds.classes, asked=Asked.EACH_CALL)
    ),
    Operator(
        "bce_loss",
        _API,
        Rule(loss="binary_cross_entropy", reads_as={1: 0}, refuses=bounds.probabilities, asked=Asked.EACH_CALL),
    ),
    Operator(
        "sigmoid_cross_entropy_with_logits", _API, Rule(loss="binary_cross_entropy_with_logits", asked=Asked.EACH_CALL)
    ),
    Operator("kldiv_loss", _API, Rule(loss="kl_div", reads_as={1: 0}, asked=Asked.EACH_CALL)),
    Operator("log_loss", _API, Rule(loss="log_loss", asked=Asked.EACH_CALL)),
    Operator("hsigmoid_loss", _API, Rule(loss="hsigmoid_loss")),
    Operator("margin_cross_entropy", _API, Rule(loss="margin_cross_entropy")),
    Operator(
        "accuracy",
        "`AccuracyInferMeta`, which looks at labels only where it runs; `cpu/accuracy_kernel.cc`",
        Rule(reads_as={2: "int64"}, asked=Asked.EACH_CALL),
    ),
    Operator(
        "viterbi_decode",
        "`ViterbiDecodeInferMeta`; asked without memory it ends right calls as well",
        Rule(reads_as={1: 0, 2: "int64"}, refuses=shapes.decoded),
    ),
    Operator("label_smooth", _STRIDES, Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL)),
)
