"""Transient memory of kernels, by rule. CPU rules are measured against Paddle's own allocator."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..memory.arrays import Array
from ..memory.dtypes import SIZE
from . import (
    broadcasts,
    decompositions,
    einsums,
    least_squares,
    products,
    recurrent,
    selected_rows,
    selections,
    singular,
    transforms,
)

Arrays = list[list[Array]]
Rule = Callable[[dict[str, Any], Arrays, Arrays], int]

_RECURRENT = ("rnn", "rnn_grad")
CONVOLUTION_LIMIT = 512 << 20
"""kDefaultConvWorkspaceSizeLimitMB (paddle/phi/backends/gpu/cuda/cudnn_workspace_helper.h): cuDNN's limit."""


def _is_pointwise(attrs: dict[str, Any], kernel: tuple[int, ...]) -> bool:
    return (
        all(size == 1 for size in kernel)
        and all(s == 1 for s in attrs.get("strides", ()))
        and not any(attrs.get("paddings", ()))
    )


def _im2col(x: Array, weight: Array, output: Array, attrs: dict[str, Any]) -> int:
    """One image's columns (phi/kernels/impl/conv_kernel_impl.h): C / groups * kernel * output positions.

    With channels last the kernel first lays input and output out anew.
    """
    kernel = weight.shape[2:]
    last = _channels_last(attrs)
    layout = x.nbytes + output.nbytes if last else 0
    if _is_pointwise(attrs, kernel):
        return layout
    positions = output.shape[1:-1] if last else output.shape[2:]
    return prod(weight.shape[1:]) * prod(positions) * SIZE[x.dtype] + layout


def _convolution(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    return _im2col(operands[0][0], operands[1][0], results[0][0], attrs)


def _convolution_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The columns; with channels last also the input's gradient, before the filter's is there (measured)."""
    x = operands[0][0]
    columns = _im2col(x, operands[1][0], operands[2][0], attrs)
    if not _channels_last(attrs) or not results or not results[0]:
        return columns
    return columns + max(0, x.nbytes - sum(group[0].nbytes for group in results[1:] if group))


def _convolution_again(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """The second gradient (input, filter, gradient, gradients of gradients): columns as in the first (measured).

    With channels last input, gradient and the input's gradient of the gradient are laid out anew. The results are not
    all there while the input's is laid out, the first of them, and the last one's copy comes last.
    """
    columns = _im2col(operands[0][0], operands[1][0], operands[2][0], attrs)
    if not _channels_last(attrs):
        return columns
    again = operands[3][0].nbytes if len(operands) > 3 and operands[3] else 0
    first, weight, last = (group[0].nbytes if group else 0 for group in results)
    return columns + again + max(last, first - weight - last)


def _channels_last(attrs: dict[str, Any]) -> bool:
    return not attrs.get("data_format", "NCHW").startswith(("NC", "Any"))


def _transposed(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """One image's columns of the output, all groups: Cout * kernel * input positions."""
    x, weight = operands[0][0], operands[1][0]
    return prod(weight.shape[1:]) * int(attrs.get("groups") or 1) * prod(x.shape[2:]) * SIZE[x.dtype]


def _normalised_rows(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """layer_norm_grad: the normalised input and a product, for the input's gradient a number a row.

    Neither where the bias' gradient alone is asked for (cpu/layer_norm_grad_kernel.cc).
    """
    x = operands[0][0]
    of_x, of_scale = (bool(group) for group in results[:2])
    rows = prod(x.shape[: attrs.get("begin_norm_axis", 1)]) if of_x else 0
    return (2 * x.nbytes if of_x or of_scale else 0) + rows * SIZE[x.dtype]


def _plain_scale(copies: int) -> Rule:
    """instance_norm without scale and bias fills some, of a number a channel (cpu/instance_norm_kernel.cc)."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        x, scale = operands[0][0], operands[1]
        return 0 if scale else copies * x.shape[1] * SIZE[x.dtype]

    return rule


def _channel_sums(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """batch_norm_grad: two numbers a channel."""
    return 2 * operands[1][0].nbytes if len(operands) > 1 and operands[1] else 0


def _ctc(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """warp-ctc's workspace on a CPU (get_workspace_size in ctc_entrypoint.cpp): forward variables and probabilities,
    and the kernel's padded copy of the logits."""
    logits, labels = operands[0][0], operands[1][0]
    steps, batch, symbols = logits.shape
    longest = 2 * labels.shape[-1] + 1
    each = 4 * symbols + 4 * longest * steps + 4 * longest + 12 * longest
    return int(batch * each + 8 * symbols * steps * batch)


def _gradients(copies: int) -> Rule:
    """So many transient tensors of the size of the gradient (measured)."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        return copies * max(array.nbytes for group in results for array in group) if any(results) else 0

    return rule


def _trust_ratio(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """lamb_: the update before it is scaled, of the parameter's size, and the two norms of their ratio (measured)."""
    merged = selected_rows.RULES["lamb_"](attrs, operands, results)
    return merged + operands[0][0].nbytes + 2 * SIZE[operands[0][0].dtype]


def _sign_changes(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """rprop_: gradient, its product with the one before, learning rates and their factors (cpu/rprop_kernel.cc)."""
    return 4 * operands[0][0].nbytes


def _second_of_quotient(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """divide_double_grad (y, out, gradient, gradient of x, ...): zeros for an absent gradient of x's gradient."""
    return 0 if operands[3] else operands[1][0].nbytes


def _second_of_batches(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """batch_norm_double_grad: four of the input's size; nine for images, laid out with channels last (measured)."""
    x = operands[0][0]
    return (9 if len(x.shape) > 2 and not _channels_last(attrs) else 4) * x.nbytes


def _second_of_instances(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """instance_norm_double_grad: four of the input's size, ones for an absent scale (measured)."""
    x, scale = operands[0][0], operands[1]
    return 4 * x.nbytes + (0 if scale else x.shape[1] * SIZE[x.dtype])


def _third_of_power(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """pow_triple_grad (x and two gradients, then one or two of the fourth kind): five or two of x's size (measured)."""
    return (5 if all(operands[3:5]) else 2) * operands[0][0].nbytes


def _spectral_norm(copies: int) -> Rule:
    """spectral_norm and its gradient: so many of the weight's size and both vectors of the iteration (measured)."""

    def rule(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
        vectors = sorted(group[0].nbytes for group in operands if group)[:2]
        return copies * max(group[0].nbytes for group in operands if group) + sum(vectors)

    return rule


def _kron_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """kron_grad: a tensor of the product's size for each gradient (measured)."""
    product = max(array.nbytes for group in operands for array in group)
    return product * sum(1 for group in results if group)


def _corners(attrs: dict[str, Any], x: Array, grid: Array) -> int:
    """Bytes of the operand's samples at the corners around each point: 4 in images, 8 in volumes; none for nearest."""
    if attrs.get("mode") == "nearest":
        return 0
    return prod((*x.shape[:2], *grid.shape[1:-1])) * SIZE[x.dtype] << grid.shape[-1]


def _grid_sample(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """grid_sample: corners, and five of the grid's size for coordinates and weights (measured)."""
    x, grid = operands[0][0], operands[1][0]
    corners = _corners(attrs, x, grid)
    return corners + 5 * grid.nbytes if corners else 0


def _grid_sample_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """grid_sample_grad: corners, and six of the grid's size, one more where its gradient is asked for (measured)."""
    x, grid = operands[0][0], operands[1][0]
    corners = _corners(attrs, x, grid)
    wanted = len(results) > 1 and bool(results[1])
    return corners + (6 + wanted) * grid.nbytes if corners else 2 * grid.nbytes


def _deformable(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """deformable_conv lays out the columns of all images and its result (phi/kernels/impl, verified to the byte)."""
    x, weight, out = operands[0][0], operands[2][0], results[0][0]
    return x.shape[1] * prod(weight.shape[2:]) * out.shape[0] * prod(out.shape[2:]) * SIZE[x.dtype] + out.nbytes


def _deformable_grad(attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """deformable_conv_grad: the columns of `im2col_step` images and one of their weight gradients."""
    x, weight, grad = operands[0][0], operands[2][0], operands[-1][0]
    images = int(attrs.get("im2col_step", 1))
    return x.shape[1] * prod(weight.shape[2:]) * images * prod(grad.shape[2:]) * SIZE[x.dtype] + weight.nbytes


_CPU: dict[str, Rule] = {
    "matmul_grad": products.backward_workspace,
    **decompositions.RULES, **selections.RULES, **singular.RULES, **transforms.RULES,
    "deformable_conv": _deformable, "deformable_conv_grad": _deformable_grad,
    "inverse_grad": _gradients(1), "kron_grad": _kron_grad,
    "lstsq": least_squares.workspace,
    "multi_dot": products.chain(1), "multi_dot_grad": products.chain(2),
    "spectral_norm": _spectral_norm(2), "spectral_norm_grad": _spectral_norm(5),
    "grid_sample": _grid_sample, "grid_sample_grad": _grid_sample_grad,
    "conv2d": _convolution, "conv2d_grad": _convolution_grad,
    "conv2d_grad_grad": _convolution_again, "conv3d_double_grad": _convolution_again,
    "conv3d": _convolution, "conv3d_grad": _convolution_grad,
    "conv2d_transpose": _transposed, "conv2d_transpose_grad": _transposed,
    "conv3d_transpose": _transposed, "conv3d_transpose_grad": _transposed,
    **selected_rows.RULES,
    "batch_norm_double_grad": _second_of_batches, "instance_norm_double_grad": _second_of_instances,
    "pow_double_grad": _gradients(1), "pow_triple_grad": _third_of_power, "divide_double_grad": _second_of_quotient,
    "lamb_": _trust_ratio, "rprop_": _sign_changes,
    "rnn": recurrent.forward_workspace, "rnn_grad": recurrent.backward_workspace,
    "depthwise_conv2d": _convolution, "depthwise_conv2d_grad": _convolution_grad,
    "depthwise_conv2d_transpose": _transposed, "depthwise_conv2d_transpose_grad": _transposed,
    "layer_norm_grad": _normalised_rows, "instance_norm": _plain_scale(2), "instance_norm_grad": _plain_scale(1),
    "batch_norm_grad": _channel_sums, "warpctc": _ctc,
    "einsum_grad": einsums.backward_workspace,
    **dict.fromkeys(broadcasts.IN_PLACE, broadcasts.sum_workspace),
    **dict.fromkeys(
        ("multiply_grad", "divide_grad", "maximum_grad", "minimum_grad", "fmax_grad", "fmin_grad",
         "elementwise_pow_grad"),
        broadcasts.product_workspace,
    ),
}  # fmt: skip
_CUDNN = frozenset(
    {"conv2d", "conv2d_grad", "conv3d", "conv3d_grad", "conv2d_transpose", "conv2d_transpose_grad",
     "conv3d_transpose", "conv3d_transpose_grad", "depthwise_conv2d", "depthwise_conv2d_grad"}
)  # fmt: skip


def cpu_workspace(name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays) -> int:
    """Transient bytes of the CPU kernel."""
    rule = _CPU.get(name)
    return 0 if rule is None else rule(attrs, operands, results)


def gpu_workspace(name: str, attrs: dict[str, Any], operands: Arrays, results: Arrays) -> tuple[int, int]:
    """Range of the GPU kernel's transient bytes; cuDNN's algorithm is not known beforehand."""
    if name in _RECURRENT:
        return recurrent.gpu_workspace(attrs, operands)
    if name not in _CUDNN:
        return 0, 0
    touched = sum(array.nbytes for group in (*operands, *results) for array in group)
    return 0, min(CONVOLUTION_LIMIT, touched)
