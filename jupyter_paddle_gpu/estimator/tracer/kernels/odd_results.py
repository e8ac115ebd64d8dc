"""Results whose size eager mode knows and the program builder does not."""

from __future__ import annotations

from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import SIZE, name_of
from ..patches import process_group
from . import einsums, least_squares, recurrent
from .templates import GradStep, Meta, Step
from .templates import slots_of as _slots

STRIDES_KEPT = frozenset({
    "abs", "acos", "acosh", "add", "add_n", "affine_grid", "amax", "argsort", "asin", "asinh", "atan", "atanh",
    "bicubic_interp", "bilinear_interp", "cast", "ceil", "celu", "channel_shuffle", "concat", "conv2d", "copysign",
    "cos", "cosh", "cross_entropy_with_softmax", "depthwise_conv2d", "diag_embed", "divide", "dropout", "elu",
    "erfinv", "exp", "expand", "expm1", "flip", "floor", "fmax", "fmin", "full_like", "gather", "gather_nd",
    "gumbel_softmax", "hardsigmoid", "hardtanh", "huber_loss", "index_add", "index_elementwise_put_with_tensor_",
    "index_put", "index_sample", "index_select", "label_smooth", "leaky_relu", "linear", "linear_interp", "log",
    "log10", "log1p", "log2", "log_softmax", "logsigmoid", "masked_fill", "matmul", "max", "maximum", "mean",
    "mean_all", "meshgrid", "min", "minimum", "mish", "multiply", "nearest_interp", "pad3d", "pixel_shuffle",
    "pixel_unshuffle", "prod", "reciprocal", "relu", "relu6", "remainder", "roll", "round", "rsqrt", "scale",
    "scatter", "scatter_nd_add", "selu", "sigmoid", "sign", "silu", "sin", "sinh", "softmax", "softplus",
    "softshrink", "softsign", "split", "split_with_num", "sqrt", "square", "stack", "subtract", "sum",
    "take_along_axis", "tan", "tanh", "temporal_shift", "tile", "trace", "tril", "triu", "trunc", "unfold", "warpctc",
    "where",
})  # fmt: skip
"""Operators that keep a strided operand as it is and copy it inside the kernel, forward and backward. All others lay it
out anew before they run and save the copy (measured on 170 operators: a batch-major RNN keeps its input twice)."""
INDEX_LAID_OUT = frozenset({"gather", "gather_nd", "index_sample", "index_select", "scatter"})
"""Of these the ones that lay their second operand, the index, out anew and save the copy (measured on 29 operators with
a strided index or label)."""
ONLY_WANTED = frozenset({"rnn_grad", "einsum_grad"})
"""Gradient operators whose results nobody wants are not allocated, though the program builder shows them."""
REFUSED = {
    "instance_norm_grad": "(InvalidArgument) The X@GRAD in InstanceNormGradInferMeta can't be nullptr.",
}
"""Gradient operators that Paddle refuses where the first result is not wanted: the input has no gradient."""
_RNN_RESULTS = ("out", "dropout_state_out", "state", "reserve")


def forward_meta(step: Step, index: int, operands: list[list[Array]], shapes: dict[int, Any], slot: int) -> Meta | None:
    """Shape and type of a forward result in place of the template's; None keeps the template's.

    `shapes` are shapes known from data, by slot: for operators whose result's shape hangs on values.
    """
    if step.name == "rnn":
        return recurrent.result_meta(_RNN_RESULTS[index], step.attrs, operands[0][0])
    if step.name == "einsum" and index == 1:
        operand = operands[0][slot - min(s for s in _slots(step.results[1]))]
        return operand.shape, operand.dtype
    if step.name == "slogdet":  # sign and logarithm of each matrix; the builder says the operand's shape
        return (2, *operands[0][0].shape[:-2]), operands[0][0].dtype
    if step.name == "lstsq":
        return least_squares.result_meta(index, step.attrs, operands) or shapes.get(slot)
    return _view_meta(step, operands) or shapes.get(slot)


def _view_meta(step: Step, operands: list[list[Array]]) -> Meta | None:
    """Of views for which the builder says the operand's shape and type."""
    if step.name == "as_strided":
        return tuple(step.attrs["dims"]), operands[0][0].dtype
    if step.name == "view_dtype":
        x, dtype = operands[0][0], name_of(step.attrs["dtype"])
        return (*x.shape[:-1], x.shape[-1] * SIZE[x.dtype] // SIZE[dtype]), dtype
    return None


def forward_array(step: Step, index: int, position: int, operands: list[list[Array]]) -> Array | None:
    """A forward result that holds an operand's memory, or none: einsum's caches and shapes, the mask of a dropout that
    drops nothing (cpu/dropout_kernel.cc; gpu/dropout_kernel.cu allocates it all the same)."""
    if step.name == "dropout" and index == 1 and step.attrs.get("is_test") and process_group.current.target == "cpu":
        x = operands[0][0]
        return Array(None, x.shape, x.strides, "uint8")
    if step.name != "einsum" or index == 0 or position >= len(operands[0]):
        return None
    operand = operands[0][position]
    if index == 1 and not einsums.is_copied(step.attrs["equation"], position):
        return operand
    return Array(None, operand.shape, operand.strides, operand.dtype) if index == 2 else None


def surplus(step: Step, index: int, operands: list[list[Array]]) -> int:
    """Bytes that a forward result has beyond its shape: `lstsq` writes its solution where the right side was."""
    if step.name != "lstsq" or index != 0:
        return 0
    x, y = operands[0][0], operands[1][0]
    rows, columns = x.shape[-2:]
    return max(0, y.nbytes // rows * (rows - columns))


def gradient_meta(step: GradStep, index: int, operands: list[list[Array]], meta: Meta) -> Meta:
    """Shape and type of a gradient: `Embedding(sparse=True)` gives one row an index (SelectedRows)."""
    if step.name in {"embedding_grad", "embedding_sparse_grad"} and step.attrs.get("sparse"):
        return (operands[0][0].numel, meta[0][-1]), meta[1]
    return meta
