"""What kernels say of indices and labels that are out of bounds, or of types that their gradients do not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..memory.arrays import Array
from .rules import Arrays, Attributes

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
    """Labels that are no class (cpu/cross_entropy_kernel.cc)."""
    if attrs.get("soft_label") or len(operands) < 2 or not operands[1]:
        return None
    classes = operands[0][0].shape[attrs.get("axis", -1)]
    ignored = attrs.get("ignore_index", -100)
    found = _first(numbers(operands[1][0]), 0, classes, ignored)
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
    """Rows that a table does not have (cpu/embedding_kernel.cc)."""
    most = operands[1][0].shape[0]
    found = _first(numbers(operands[0][0]), 0, most, attrs.get("padding_idx", -1))
    if found is None:
        return None
    return ValueError(
        f"(InvalidArgument) Variable value (input) of OP(embedding) expected >= 0 and < {most}, but got {found}. "
        "Please check input value."
    )


def columns(attrs: Attributes, operands: Arrays, numbers: Callable[[Array], Any]) -> Exception | None:
    """Indices beyond the depth (cpu/one_hot_kernel.cc)."""
    depth = attrs.get("num_classes", attrs.get("depth"))
    if not isinstance(depth, int):
        return None
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
