"""Images: sampling at points, interpolation, pixels and patches."""

from __future__ import annotations

from math import prod

from ...memory.arrays import Array
from ...memory.dtypes import SIZE
from .. import shapes
from ..rules import WITHOUT_MEMORY, Arrays, Asked, Attributes, Further, Meta, Operator, Place, Rule, Strides, nothing


def _corners(attrs: Attributes, x: Array, grid: Array) -> int:
    """Bytes of the operand's samples at the corners around each point: 4 in images, 8 in volumes; none for nearest."""
    if attrs.get("mode") == "nearest":
        return 0
    return prod((*x.shape[:2], *grid.shape[1:-1])) * SIZE[x.dtype] << grid.shape[-1]


def _grid_sample(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Samples at the corners around each point, and five of the grid's size for coordinates and weights."""
    x, grid = operands[0][0], operands[1][0]
    corners = _corners(attrs, x, grid)
    return corners + 5 * grid.nbytes if corners else 0


def _grid_sample_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Those samples, and six of the grid's size, one more where its gradient is asked for."""
    x, grid = operands[0][0], operands[1][0]
    corners = _corners(attrs, x, grid)
    wanted = len(results) > 1 and bool(results[1])
    return corners + (6 + wanted) * grid.nbytes if corners else 2 * grid.nbytes


def _points(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """A point for each pixel that is asked for; the builder leaves open how many those are."""
    theta, pixels = operands[0][0], attrs["output_shape"][2:]
    return (theta.shape[0], *pixels, len(pixels)), theta.dtype


def _maps(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Every point as it was before, the maps of one image that these are put together from, and the axes."""
    return _maps_of(results[0][0])


def _maps_grad(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The same once more, beside the points' gradient."""
    return _maps_of(operands[1][0])


def _maps_of(points: Array) -> int:
    batch, *pixels, axes = points.shape
    maps = axes + 1 + sum(range(2, axes + 2))
    return (prod(pixels) * (batch * (axes + 1) + maps) + sum(pixels)) * SIZE[points.dtype]


def _images_of_boxes(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The image of each box, as an int32."""
    return 4 * operands[1][0].shape[0]


def _boxes(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """A byte for each labeled box, and a score of 1 where the program gives none."""
    return operands[2][0].numel + _scores(attrs, operands, results)


def _scores(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Those scores once more."""
    return 0 if operands[3] else operands[2][0].numel * SIZE[operands[0][0].dtype]


def _matches(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """The anchor of each labeled box is an int32; the builder says that it is of the input's type."""
    return (place.meta[0], "int32") if place.result == 2 else None


def _of_levels(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Boxes of each level: together as many as there are, at equal shares; the place of each among them."""
    boxes = operands[0][0]
    count, levels = boxes.shape[0], attrs["max_level"] - attrs["min_level"] + 1
    if place.result == 0:
        return (max(1, (count + place.position) // levels), 4), boxes.dtype
    return ((count, 1), "int32") if place.result == 2 else None


_STRIDES = "strided operands: measured (`test_strided_operands.py`)"
_NAMES = _STRIDES + "; `TransToFluidOpName`"

OPERATORS = (
    Operator(
        "grid_sample",
        "measured on 54 configurations of images and volumes, each to the byte",
        Rule(workspace=_grid_sample, reads_as={1: 0}, asked=Asked.EACH_CALL),
        gradient=Rule(workspace=_grid_sample_grad),
    ),
    Operator("fractional_max_pool2d", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
    Operator("linear_interp", _NAMES, Rule(strides=Strides.KEPT, amp_name="linear_interp_v2")),
    Operator("nearest_interp", _NAMES, Rule(strides=Strides.KEPT, amp_name="nearest_interp_v2", asked=Asked.EACH_CALL)),
    Operator(
        "bilinear_interp", _NAMES, Rule(strides=Strides.KEPT, amp_name="bilinear_interp_v2", asked=Asked.EACH_CALL)
    ),
    Operator("bicubic_interp", _NAMES, Rule(strides=Strides.KEPT, amp_name="bicubic_interp_v2", asked=Asked.EACH_CALL)),
    Operator("trilinear_interp", "`TransToFluidOpName`", Rule(amp_name="trilinear_interp_v2", asked=Asked.EACH_CALL)),
    Operator(
        "affine_grid",
        "`affine_grid_utils.h`, measured to the byte on images and volumes; " + _STRIDES,
        Rule(result=_points, sized_here=True, strides=Strides.KEPT, workspace=_maps),
        gradient=Rule(workspace=_maps_grad),
    ),
    Operator(
        "roi_align",
        "`roi_align_grad_kernel.cc` and its like, measured to the byte",
        Rule(
            workspace=_images_of_boxes,
            reads_as={1: 0},
            refuses=shapes.images_of_aligned_boxes,
            asked=Asked.EACH_CALL,
        ),
        gradient=Rule(workspace=_images_of_boxes),
    ),
    Operator(
        "roi_pool",
        "`roi_align_grad_kernel.cc` and its like, measured to the byte",
        Rule(workspace=_images_of_boxes, reads_as={1: 0, 2: "int32"}, refuses=shapes.images_of_boxes),
        gradient=Rule(workspace=_images_of_boxes),
    ),
    Operator(
        "psroi_pool",
        "`roi_align_grad_kernel.cc` and its like, measured to the byte",
        Rule(workspace=_images_of_boxes, reads_as={1: 0, 2: "int32"}),
        gradient=Rule(workspace=_images_of_boxes),
    ),
    Operator("yolo_box", "`cpu/yolo_box_kernel.cc`", Rule(reads_as={1: "int32"})),
    Operator(
        "yolo_loss",
        "`yolo_loss_kernel.cc`, `yolo_loss_grad_kernel.cc`, measured to the byte",
        Rule(result=_matches, workspace=_boxes),
        gradient=Rule(workspace=_scores),
    ),
    Operator(
        "distribute_fpn_proposals",
        "`distribute_fpn_proposals_kernel.cc`: each box goes to one level",
        Rule(result=_of_levels, sized_here=True),
    ),
    Operator(
        "channel_shuffle temporal_shift",
        _STRIDES,
        Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL),
    ),
    Operator(
        "pixel_shuffle pixel_unshuffle unfold",
        _STRIDES,
        Rule(strides=Strides.KEPT, asked=Asked.EACH_CALL),
    ),
    Operator("pad", "`eager_gen.py`", Rule(flops=nothing), second=Rule(fills_zeros=True)),
    Operator(
        "pad3d",
        _STRIDES + "; `eager_gen.py`",
        Rule(strides=Strides.KEPT, flops=nothing, refuses=shapes.mirrored, asked=Asked.EACH_CALL),
        second=Rule(fills_zeros=True),
    ),
    Operator(
        "pool2d", "messages of libpaddle.so, 3.3.1", Rule(asked=Asked.EACH_CALL), second=Rule(further=Further.REFUSED)
    ),
    Operator("fold", WITHOUT_MEMORY, Rule(asked=Asked.FIRST_ENTRY)),
    Operator("max_pool2d_with_index max_pool3d_with_index pool3d", WITHOUT_MEMORY, Rule(asked=Asked.EACH_CALL)),
)
