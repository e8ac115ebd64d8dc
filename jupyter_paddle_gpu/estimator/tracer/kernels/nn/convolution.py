"""Convolutions, transposed and deformable ones: an image's columns on a CPU, what cuDNN chooses on a GPU."""

from __future__ import annotations

import contextlib
from math import prod
from typing import Any

from ...memory.arrays import Array
from ...memory.dtypes import SIZE
from ..gpu_flags import of_convolutions, searches, workspace_limit
from ..rules import Arrays, Asked, Attributes, Further, Meta, Number, Operator, Place, Rule, Strides

_OF_IMAGES = 4
"""Dimensions of a filter of images: [out, in / groups, height, width]."""


def cudnn(attrs: Attributes, operands: Arrays, results: Arrays) -> tuple[int, int]:
    """Nothing up to what the kernel touches, at most cuDNN's limit, for its algorithm is not known beforehand; all of
    the limit where it searches for one; for depthwise filters of images nothing.

    A depthwise convolution of images asks cuDNN nothing: `_conv_nd` and `conv1d` of `nn/functional/conv.py` call
    `depthwise_conv2d` on a GPU, whose kernels are Paddle's own (`phi/kernels/gpu/depthwise_conv_kernel.cu`; the GPU
    wheel of 2.6.2 has no other).
    """
    weight = operands[1][0].shape
    if int(attrs.get("groups") or 1) > 1 and weight[1] == 1 and len(weight) == _OF_IMAGES:
        return 0, 0
    touched = sum(array.nbytes for group in (*operands, *results) for array in group)
    storage = operands[1][0].storage
    searched, limit = (searches(), workspace_limit()) if storage is None else of_convolutions(storage.ledger)
    if searched and limit < float("inf"):  # `GetMaxWorkspaceSize` of `conv_cudnn_v7.h`
        return int(limit), int(limit)
    return 0, int(min(limit, touched))


def _flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each element of the result and weight of its kernel."""
    weight = operands[1][0].shape  # [out, in / groups, *kernel]
    return 2 * results[0][0].numel * prod(weight[1:])


def _gradient_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """As forward, for each gradient that is asked for."""
    weight, out_grad = operands[1][0].shape, operands[2][0]
    return 2 * out_grad.numel * prod(weight[1:]) * sum(bool(group) for group in results)


def _transposed_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Two for each element of the input and weight of its kernel."""
    weight = operands[1][0].shape  # [in, out / groups, *kernel]
    return 2 * operands[0][0].numel * prod(weight[1:])


def _transposed_gradient_flops(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """As forward, for each gradient that is asked for."""
    return _transposed_flops(attrs, operands, results) * sum(bool(group) for group in results)


def _is_pointwise(attrs: Attributes, kernel: tuple[int, ...]) -> bool:
    return (
        all(size == 1 for size in kernel)
        and all(s == 1 for s in attrs.get("strides", ()))
        and not any(attrs.get("paddings", ()))
    )


def channels_last(attrs: Attributes) -> bool:
    """Whether images come with their channels behind height and width."""
    return not attrs.get("data_format", "NCHW").startswith(("NC", "Any"))


def _im2col(x: Array, weight: Array, output: Array, attrs: Attributes) -> int:
    """One image's columns: C / groups * kernel * output positions. With channels last the kernel first lays input and
    output out anew."""
    kernel = weight.shape[2:]
    last = channels_last(attrs)
    layout = x.nbytes + output.nbytes if last else 0
    if _is_pointwise(attrs, kernel):
        return layout
    positions = output.shape[1:-1] if last else output.shape[2:]
    return prod(weight.shape[1:]) * prod(positions) * SIZE[x.dtype] + layout


def _columns(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """One image's columns (im2col); with channels last also input and output, laid out anew."""
    return _im2col(operands[0][0], operands[1][0], results[0][0], attrs)


def _gradient_columns(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The columns; with channels last also the input's gradient, before the filter's is there (measured)."""
    x = operands[0][0]
    columns = _im2col(x, operands[1][0], operands[2][0], attrs)
    if not channels_last(attrs) or not results or not results[0]:
        return columns
    return columns + max(0, x.nbytes - sum(group[0].nbytes for group in results[1:] if group))


def _second_columns(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Of the second gradient (input, filter, gradient, gradients of gradients) columns as in the first (measured).

    With channels last input, gradient and the input's gradient of the gradient are laid out anew. The results are not
    all there while the input's is laid out, the first of them, and the last one's copy comes last.
    """
    columns = _im2col(operands[0][0], operands[1][0], operands[2][0], attrs)
    if not channels_last(attrs):
        return columns
    again = operands[3][0].nbytes if len(operands) > 3 and operands[3] else 0
    first, weight, last = (group[0].nbytes if group else 0 for group in results)
    return columns + again + max(last, first - weight - last)


def _transposed_columns(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """One image's columns of the output, all groups: Cout * kernel * input positions."""
    x, weight = operands[0][0], operands[1][0]
    return prod(weight.shape[1:]) * int(attrs.get("groups") or 1) * prod(x.shape[2:]) * SIZE[x.dtype]


def _transposed_empty(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Of an image without height, width or depth as large as of another one; the program builder leaves it open
    (`ConvTransposeInferMeta` of infermeta/binary.cc)."""
    shape, kernel = operands[0][0].shape, operands[1][0].shape[2:]
    first = 1 if channels_last(attrs) else 2
    sizes = shape[first : first + len(kernel)]
    if all(sizes):
        return None
    given, strides, dilations = attrs.get("output_size") or (), attrs["strides"], attrs["dilations"]
    pads, further, way = attrs["paddings"], attrs.get("output_padding") or (), attrs["padding_algorithm"]
    found = list(place.meta[0])
    for at, (size, width, stride, dilation) in enumerate(zip(sizes, kernel, strides, dilations, strict=True)):
        both = 2 * pads[at] if len(pads) == len(kernel) else pads[2 * at] + pads[2 * at + 1]
        if way == "SAME":
            both = max((-(-size // stride) - 1) * stride + width - size, 0)
        wide = (1 if way == "SAME" else dilation) * (width - 1) + 1
        whole = (size - 1) * stride + wide - (0 if way == "VALID" else both)
        found[first + at] = given[at] if given else whole + (further[at] if further else 0)
    return tuple(found), place.meta[1]


def _deformable(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The columns of all images, and the result once more."""
    x, weight, out = operands[0][0], operands[2][0], results[0][0]
    return x.shape[1] * prod(weight.shape[2:]) * out.shape[0] * prod(out.shape[2:]) * SIZE[x.dtype] + out.nbytes


def _deformable_gradient(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The columns of `im2col_step` images and one of their weight gradients."""
    x, weight, grad = operands[0][0], operands[2][0], operands[-1][0]
    images = int(attrs.get("im2col_step", 1))
    return x.shape[1] * prod(weight.shape[2:]) * images * prod(grad.shape[2:]) * SIZE[x.dtype] + weight.nbytes


def _kernel(args: Any, metas: list[Meta]) -> frozenset[tuple[int, int]] | None:
    """Those of its kernel apart, where its maps are as large as what they are made of and filters see all channels."""
    with contextlib.suppress(TypeError, ValueError):  # which Paddle refuses
        _, _, strides, paddings, algorithm, dilations, groups, _ = args
        kernel = metas[1][0][2:]
        around = [sum(pair) for pair in zip(paddings[::2], paddings[1::2], strict=True)]
        around = [2 * one for one in paddings] if len(paddings) == len(kernel) else around
        needs = [dilation * (size - 1) for dilation, size in zip(dilations, kernel, strict=True)]
        if algorithm == "EXPLICIT" and groups == 1 and {*strides} == {1} and around == needs:
            return frozenset((1, place) for place in range(2, 2 + len(kernel)))
    return None


_SOURCE = "`phi/kernels/impl/conv_kernel_impl.h`, `cudnn_workspace_helper.h`; measured to the byte"
_GRADIENT = Rule(flops=_gradient_flops, workspace=_gradient_columns, gpu=cudnn)
_SIZES = {5: Number(list, "output_size")}
_TRANSPOSED = Rule(
    flops=_transposed_flops,
    workspace=_transposed_columns,
    gpu=cudnn,
    result=_transposed_empty,
    sized_here=True,
    numbers=_SIZES,
    asked=Asked.FIRST_ENTRY,
    is_convolution=True,
)
_TRANSPOSED_GRADIENT = Rule(flops=_transposed_gradient_flops, workspace=_transposed_columns, gpu=cudnn, crashes=True)
_VOLUMES = {0: "grad_filter_grad", 1: "grad_input_grad"}
_IMAGES = {**_VOLUMES, 2: "grad_input_grad"}

_FILTERS = {1: 0}
"""A filter is read with its input's type."""

OPERATORS = (
    Operator(
        "conv2d",
        _SOURCE,
        Rule(
            keeps_sizes=_kernel,
            strides=Strides.KEPT,
            reads_as=_FILTERS,
            flops=_flops,
            workspace=_columns,
            gpu=cudnn,
            asked=Asked.EACH_CALL,
            is_convolution=True,
        ),
        gradient=_GRADIENT,
        second=Rule(
            name="conv2d_grad_grad",
            workspace=_second_columns,
            fills_zeros=True,
            rests_on=_IMAGES,
            further=Further.REFUSED,
        ),
    ),
    Operator(
        "depthwise_conv2d",
        _SOURCE,
        Rule(
            strides=Strides.KEPT,
            reads_as=_FILTERS,
            flops=_flops,
            workspace=_columns,
            gpu=cudnn,
            asked=Asked.EACH_CALL,
            is_convolution=True,
        ),
        gradient=_GRADIENT,
        second=Rule(rests_on=_IMAGES),
    ),
    Operator(
        "conv3d",
        _SOURCE,
        Rule(
            reads_as=_FILTERS,
            flops=_flops,
            workspace=_columns,
            gpu=cudnn,
            asked=Asked.EACH_CALL,
            is_convolution=True,
        ),
        gradient=_GRADIENT,
        second=Rule(
            workspace=_second_columns,
            fills_zeros=True,
            rests_on=_VOLUMES,
            awaits_all=True,
            further=Further.REFUSED,
        ),
    ),
    Operator(
        "conv2d_transpose",
        _SOURCE,
        _TRANSPOSED,
        gradient=_TRANSPOSED_GRADIENT,
        second=Rule(fills_zeros=True, further=Further.REFUSED),
    ),
    Operator("conv3d_transpose", _SOURCE, _TRANSPOSED, gradient=_TRANSPOSED_GRADIENT),
    Operator(
        "depthwise_conv2d_transpose",
        _SOURCE,
        Rule(
            workspace=_transposed_columns,
            result=_transposed_empty,
            sized_here=True,
            numbers=_SIZES,
            is_convolution=True,
        ),
        gradient=Rule(workspace=_transposed_columns, crashes=True),
    ),
    Operator(
        "deformable_conv",
        "`phi/kernels/impl/deformable_conv_kernel_impl.h`; measured to the byte",
        Rule(workspace=_deformable, asked=Asked.EACH_CALL, is_convolution=True),
        gradient=Rule(workspace=_deformable_gradient),
    ),
)
