"""What kernels refuse that the program builder does not look at and that eager mode says only of tensors with memory.

Their rules declare it (`Rule.reads_as`, `Rule.refuses`); numbers are looked at where they are known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kernels.rules import Arrays, Attributes, Rule
from ..memory.arrays import Array, State
from ..memory.dtypes import LOW_PRECISION
from ..memory.values import is_random
from ..program.templates import Template
from .tensors import Tensors

LIMIT = 1 << 22
"""Bytes above which numbers are not looked at."""


def check(runtime: Tensors, rule: Rule, attrs: Attributes, operands: Arrays) -> None:
    """Raise what a kernel raises for these operands."""
    problem = _of_types(rule.reads_as, operands)
    if problem is None and rule.refuses is not None:
        problem = rule.refuses(attrs, operands, lambda array: _numbers(runtime, array))
    if problem is not None:
        raise runtime.refused(problem)


def check_leaves(runtime: Tensors, template: Template, tensors: list[Any], states: list[State], wants: Any) -> None:
    """Raise what eager mode raises where an operator would write over a leaf whose gradient is asked for
    (`EagerUtils::CheckInplace`)."""
    written = (step.operands[place] for step in template.steps for place in step.inplace.values())
    for slot in written:
        if isinstance(slot, int) and slot < len(tensors) and wants[slot] and states[slot].node is None:
            name = tensors[slot].name
            message = f"(InvalidArgument) Leaf Var ({name}) that doesn't stop gradient can't use inplace strategy."
            raise runtime.refused(ValueError(message))


def _of_types(reads_as: Mapping[int, int | str], operands: Arrays) -> Exception | None:
    for place, wanted in reads_as.items():
        if place >= len(operands):
            continue
        of = operands[wanted] if isinstance(wanted, int) else []
        dtype = of[0].dtype if of else wanted
        for array in operands[place]:
            # In low precision statistics and scales may be in another type.
            if (
                isinstance(dtype, str)
                and array.dtype != dtype
                and (dtype is wanted or LOW_PRECISION.isdisjoint((dtype, array.dtype)))
            ):
                return ValueError(
                    f"(InvalidArgument) The type of data we are trying to retrieve ({dtype}) does not match the type "
                    f"of data ({array.dtype}) currently contained in the container."
                )
    return None


def _numbers(runtime: Tensors, array: Array) -> Any:
    """An array's numbers as one row of numpy, None where they are not known for certain."""
    value = array.value
    if value is None or runtime.evaluate is None or array.nbytes > LIMIT or is_random(value):
        return None
    try:
        return runtime.evaluate(value).numpy().reshape(-1)
    except Exception:
        return None
