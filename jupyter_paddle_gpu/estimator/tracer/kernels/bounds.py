"""What kernels say of indices and labels that are out of bounds, or of types that their gradients do not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..memory.arrays import Array, Shape
from .rules import Arrays, Attributes, Refuses

_WHOLE = frozenset(("uint8", "int8", "int16", "int32", "int64"))


def _first(numbers: Any, least: int, most: int, but: int | None = None) -> int | None:
    """The first number out of bounds, `but` excepted; None where there is none or they are not known."""
    if numbers is None or numbers.dtype.kind not in "iu":
        return None
    wrong = (numbers < least) | (numbers >= most)
    if but is not None:
        wrong &= numbers != but
    found = numbers[wrong]
    return int(found[0]) if found.size else None


def labels(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Labels that are no class, cut to whole numbers (cpu/cross_entropy_kernel.cc, which looks at none beside scores
    without elements)."""
    if attrs.get("soft_label") or len(operands) < 2 or not operands[1] or operands[0][0].numel == 0:
        return None
    classes = operands[0][0].shape[attrs.get("axis", -1)]
    ignored = attrs.get("ignore_index", -100)
    known = numbers(operands[1][0])
    known = known.astype("int64") if known is not None and known.dtype.kind == "f" else known
    found = _first(known, 0, classes, ignored)
    if found is None:
        return None
    if found < 0:
        return IndexError(
            f"(OutOfRange) label value should >= 0 when label value({found}) not equal to ignore_index({ignored})"
        )
    return IndexError(
        "(OutOfRange) label value should less than the shape of axis dimension when label "
        f"value({found}) not equal to ignore_index({ignored}), But received label value as {found} and shape of axis "
        f"dimension is {classes}"
    )


def label_types(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Labels that are no whole numbers: only the gradient's kernel refuses (cpu/cross_entropy_grad_kernel.cc)."""
    dtype = operands[0][0].dtype if operands and operands[0] else "int64"
    if attrs.get("soft_label") or dtype in _WHOLE:
        return None
    name = "CrossEntropyWithSoftmaxGradCPUKernel"
    return OSError(f'function "{name}" is not implemented for data type `{dtype}`')


def rows(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Rows that a table does not have (cpu/embedding_kernel.cc); -1 stands for a row of zeros."""
    return _no_row("embedding", operands, numbers, -1)


def learned_rows(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """The same of -1, which has no gradient but a sparse one (cpu/embedding_grad_kernel.cc)."""
    return None if attrs.get("sparse") else _no_row("paddle.nn.functional.embedding", operands, numbers)


def _no_row(name: str, operands: Arrays, numbers: Callable[[Array], Any], but: int | None = None) -> Exception | None:
    most = operands[1][0].shape[0]
    found = _first(numbers(operands[0][0]), 0, most, but)
    if found is None:
        return None
    return ValueError(
        f"(InvalidArgument) Variable value (input) of OP({name}) expected >= 0 and < {most}, but got {found}. "
        "Please check input value."
    )


def columns(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Indices beyond the depth (cpu/one_hot_kernel.cc)."""
    depth = attrs.get("num_classes", attrs.get("depth"))
    if not isinstance(depth, (int, float)):  # a tensor's number
        return None
    depth = int(depth)
    found = _first(numbers(operands[0][0]), 0, depth)
    if found is None:
        return None
    begin = "(InvalidArgument) Illegal index value, Input(input) value should be"
    if found < 0:
        return ValueError(f"{begin} at least 0, but received input ({found}) less than 0")
    return ValueError(f"{begin} less than Input(depth), but received input ({found}) not less than depth ({depth})")


def classes(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Labels that are no class (cpu/nll_loss_kernel.cc)."""
    most = operands[0][0].shape[1]
    found = _first(numbers(operands[1][0]), 0, most, attrs.get("ignore_index", -100))
    return None if found is None else ValueError("(InvalidArgument) label should not be out of bounds.")


class LikelyError(ValueError):
    """What a kernel says unless numbers that nobody computes here happen to lie within its bounds.

    Attributes:
        maker: the operator that gives them, whose results have no bounds.
    """

    def __init__(self, message: str, maker: str) -> None:
        super().__init__(message)
        self.maker = maker


class UncheckedError(ValueError):
    """A place that is not there and that no kernel looks for: the step takes what stands in memory, or crashes.

    Attributes:
        index, size: the first such place, and how many there are.
    """

    def __init__(self, index: int, size: int) -> None:
        super().__init__(f"{index} of {size}")
        self.index, self.size = index, size


_PRODUCTS = frozenset(("conv2d", "matmul"))
_WITH_BIAS = frozenset(("fused_gemm_epilogue", "linear", "linear_v2"))
"""Products that add a bias themselves."""
_NEAR = 3
"""Operators of a layer that go from its product to the sum with its bias."""
_TOO_LOW = "(InvalidArgument) Illegal input, input must be greater than  or equal to 0"
_TOO_HIGH = "(InvalidArgument) Illegal input, input must be less than or equal to 1"


def probabilities(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Numbers that are no probabilities (cpu/bce_loss_kernel.cc), and likely so what has no bounds: outputs of a layer
    without a sigmoid."""
    array = operands[0][0]
    known = numbers(array)
    if known is not None:
        wrong = known[(known < 0) | (known > 1)] if known.dtype.kind == "f" else known[:0]
        return ValueError(_TOO_LOW if wrong[0] < 0 else _TOO_HIGH) if wrong.size else None
    maker = _maker_without_bounds(array)
    return None if maker is None else LikelyError(_TOO_LOW, maker)


def _maker_without_bounds(array: Array) -> str | None:
    """The product of a layer of which an array is the sum with a bias: about half of such numbers are negative. A
    product alone may be one of probabilities."""
    storage = array.storage
    if storage is None or storage.version:
        return None
    if storage.record.op in _WITH_BIAS:
        return storage.record.op
    if storage.record.op != "add":
        return None
    record, operations = storage.record, storage.ledger.operations
    before = operations[max(0, record.start - _NEAR) : record.start]
    return next((one.name for one in reversed(before) if one.name in _PRODUCTS and one.layer == record.layer), None)


class Index(NamedTuple):
    """What a kernel says of an index that its first operand does not have.

    Attributes:
        high, low: said above and below; fields are the `index`, the `size` of the dimension, `low` for its opposite and
            the `place` of the index among the others.
        counts_back: negative indices count from the end.
        passes_empty: it looks at no index where the first operand has no elements; otherwise where that has rows.
    """

    error: type[Exception]
    high: str
    low: str
    counts_back: bool = True
    passes_empty: bool = True


def _elsewhere(name: str, least: str = "{low}") -> str:
    return (
        f"(InvalidArgument) Variable value (index) of OP({name}) expected >= {least} and < {{size}}, but got "
        "{index}. Please check input value."
    )


def _along(name: str) -> Index:
    said = (
        f"(OutOfRange) Variable value (index) of {name} cpu kernel, expected >= -{{size}} and < {{size}}, but got "
        "{index}.Please check the input value."
    )
    return Index(IndexError, said, said)


_OUT = "(OutOfRange) The index is out of bounds, please check whether the "
GATHER = Index(
    IndexError,
    "(OutOfRange) The element of Index must be less than the size of input dim size of axis which is {size}, but "
    "received index element which is {index} in the {place} index.",
    "(OutOfRange) The element of Index must be greater than or equal to -{size}, but received index element which is "
    "{index} in the {place} index.",
)
GATHER_ND = Index(
    ValueError,
    "(InvalidArgument) Input(index[-1)] has wrong value, it is [{index}]",
    "(InvalidArgument) The value of Input(index) must be no less than [-{size}]",
)
SCATTER = Index(
    IndexError,
    _OUT + "values of index and dimensions of input meet the requirements. each index should be less than 1st-dim size "
    "({size}) of input, but received [{index}]",
    _OUT + "dimensions of index and input meet the requirements. It should be greater than or equal to [-{size}], but "
    "received [{index}]",
)
_ND = (
    _OUT + "dimensions of index and input meet the requirements. It should be less than [{size}] and greater or equal "
    "to [-{size}], but received [{index}]"
)
SCATTER_ND = Index(IndexError, _ND, _ND)
INDEX_SELECT = Index(ValueError, _elsewhere("index_select"), _elsewhere("index_select"), passes_empty=False)
INDEX_ADD = Index(ValueError, _elsewhere("index_add"), _elsewhere("index_add"))
INDEX_SAMPLE = Index(ValueError, _elsewhere("index_sample", "0"), _elsewhere("index_sample", "0"), counts_back=False)
TAKE_ALONG_AXIS = _along("gather")
PUT_ALONG_AXIS = _along("scatter")


def _said(kind: Index, numbers: Any, size: int) -> Exception | None:
    """Of the first of a row of numbers that is out of bounds; None where there is none."""
    if numbers.dtype.kind not in "iu":
        return None
    wrong = (numbers >= size) | (numbers < (-size if kind.counts_back else 0))
    if not wrong.any():
        return None
    place = int(wrong.argmax())
    index = int(numbers[place])
    words = kind.high if index >= size else kind.low
    return kind.error(words.format(index=index, size=size, low=-size, place=place))


def within(kind: Index, axis: int | None = None) -> Refuses:
    """That the second operand's numbers are places along an axis of the first.

    Args:
        axis: None: the attribute of that name, 0 where it is not given.
    """

    def rule(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
        of, known = operands[0][0].shape, numbers(operands[1][0])
        place = int(attrs.get("axis") or 0) if axis is None else axis
        if known is None or not -len(of) <= place < len(of):
            return None
        is_passed = 0 in of and (kind.passes_empty or of[place] > 0)
        return None if is_passed else _said(kind, known, of[place])

    rule.__doc__ = "Indices out of bounds."
    return rule


_SCATTERED = within(SCATTER, axis=0)
_ADDED = within(
    SCATTER._replace(
        high=_OUT
        + "dimensions of index and input meet the requirements. It should be less than [{size}], but received "
        "[{index}]"
    ),
    axis=0,
)


def _index_type(operands: Arrays, between: str) -> Exception | None:
    """Indices that are no whole numbers, by a kernel that looks itself."""
    dtype = operands[1][0].dtype
    if dtype in {"int32", "int64"}:
        return None
    said = f"Index holds the wrong type, it holds [{dtype}],{between}but desires to be [int32] or [int64]."
    return ValueError(f"(InvalidArgument) {said}")


def scattered(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Rows of another size than those whose place they take, or places that are not there (funcs/scatter.h)."""
    of, rows = operands[0][0].shape, operands[2][0].shape
    at = next((i for i in range(1, min(len(of), len(rows))) if of[i] != rows[i]), None)
    if (problem := _index_type(operands, "")) is not None:
        return problem
    if at is None:
        return (_SCATTERED if attrs.get("overwrite", True) else _ADDED)(attrs, operands, numbers)
    return ValueError(
        "(InvalidArgument) The dimensions of the source tensor and target tensor should match, but received source "
        f"tensor's {at}-th dimension is {rows[at]},target tensor's {at}-th dimension is {of[at]}."
    )


def segments(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Numbers of segments that go down (cpu/segment_pool_kernel.cc, funcs/segment_pooling.cc)."""
    known = numbers(operands[1][0])
    if known is None or known.dtype.kind not in "iu":
        return None
    at = next((i for i in range(len(known) - 1) if known[i] > known[i + 1]), None)
    if at is None:
        return None
    return ValueError(
        f"(InvalidArgument) The segment ids should be sorted, but got segment_ids[{at}]:{known[at]} > "
        f"segment_ids[{at + 1}]:{known[at + 1]}."
    )


def within_each(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Rows of indices, a column for each of the first operand's leading dimensions (funcs/gather.h)."""
    of, index, known = operands[0][0].shape, operands[1][0], numbers(operands[1][0])
    depth = index.shape[-1] if index.shape else 0
    if known is None or not 0 < depth <= len(of) or 0 in of:
        return None
    return _of_rows(GATHER_ND, known.reshape(-1, depth), of)


def _of_rows(kind: Index, rows: Any, of: Shape) -> Exception | None:
    """Of the first row with an index that is out of bounds; the last one in it."""
    sizes = np.array(of[: rows.shape[1]])
    wrong = (rows >= sizes) | (rows < -sizes)
    if not wrong.any():
        return None
    row = int(wrong.any(axis=1).argmax())
    column = int(np.flatnonzero(wrong[row])[-1])
    return _said(kind, rows[row, column : column + 1], of[column])


def added_at(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Places that are not there, or no whole numbers (cpu/scatter_nd_add_kernel.cc)."""
    if (problem := _index_type(operands, " ")) is not None:
        return problem
    of, index, known = operands[0][0].shape, operands[1][0], numbers(operands[1][0])
    depth = index.shape[-1] if index.shape else 0
    if known is None or not 0 < depth <= len(of) or 0 in of:
        return None
    return _of_rows(SCATTER_ND, known.reshape(-1, depth), of)


def within_axes(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Places along several axes, of which the operator is told the sizes, and whose bounds its kernels for CPUs and for
    GPUs do not look at (`index_elementwise_get_kernel.cc`, `.cu`; read and measured)."""
    pairs = ((numbers(index), size) for index, size in zip(operands[1], attrs["index_dims"], strict=False))
    for known, size in pairs:
        if (found := _first(known, -size, size)) is not None:
            return UncheckedError(found, size)
    return None


def k_largest(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """More than there are, in all or along the axis (`TopkInferMeta`, cpu/top_k_kernel.cc)."""
    x, k = operands[0][0], attrs.get("k")
    shape = x.shape
    width = shape[int(attrs.get("axis", -1))] if shape else None
    if width is None or not isinstance(k, (int, float)) or k <= width:
        return None
    if k > x.numel:
        return ValueError(f"(InvalidArgument) x has only {x.numel} element, can not find {int(k)} top values.")
    return ValueError(
        f"(InvalidArgument) The rank ({int(k)}) of the input 'k' for topk op must be less than or equal to {width}."
    )


def kth(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Beyond what there is along the axis (`KthvalueInferMeta`, which the program builder asks for known sizes only,
    and cpu/kthvalue_kernel.cc)."""
    shape, k, axis = operands[0][0].shape, attrs.get("k", 1), int(attrs.get("axis", -1))
    if not shape and k > 1:
        return ValueError(
            "(InvalidArgument) the k in the kthvalue must less equal than the elements number of the input X, but "
            f"received {k} ."
        )
    if shape and k > shape[axis]:
        return ValueError(
            f"(InvalidArgument) input of kthvalue must have >= {k} columns in axis of {axis % len(shape)}"
        )
    return None


def edges(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Ends of edges that are no node (cpu/send_u_recv_kernel.cc takes the rows out of both)."""
    nodes = operands[0][0].shape[0]
    for place in (1, 2):
        known = numbers(operands[place][0])
        if known is None or known.dtype.kind not in "iu" or (place == 2 and len(operands) > 3 and operands[3]):
            continue  # how many results there are may be said
        if (known < 0).any():
            least = int(known[known < 0][0])
            return IndexError(
                "(OutOfRange) The start row index must be greater than 0.But received the start index is d" + str(least)
            )
        if (known >= nodes).any():
            return IndexError("(OutOfRange) The end row index is out of bound.")
    return None
