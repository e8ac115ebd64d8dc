"""Types that meet in one call: what eager mode casts, and what this Paddle refuses that an earlier one took together.

`x * y` of float32 and bfloat16 is `x * y.astype("float32")`, and that cast is what is saved. The program builder, which
is asked for float32 in place of low precision, does not say so.

What is refused stands in a script's modules, which were written for an earlier Paddle:
`paddle.shape` gave int32 and gives int64, so that PaddleOCR's `paddle.minimum(w, ….astype("int32"))` stops today; of
`probabilities + (1 - mask)` Paddle 2 turned the right operand into the left one's type (`eager_math_op_patch.cc`, “the
right dtype will convert to”). The job stops there, which is told; the step goes on with the cast that is missing, so
that it has a figure. What a person writes, a cell or a notebook's helper, is theirs to mend: there the trace ends.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle

from .. import call_stack
from ..kernels.registry import rule_of
from ..memory.dtypes import LOW_PRECISION, name_of
from .amp import cast_to
from .tensors import Tensors

_REFUSED = re.compile(r"\(InvalidType\) Type promotion only support")
_WHOLE = frozenset(("int8", "uint8", "int16", "int32", "int64"))
_KNOWN = _WHOLE | {"float16", "bfloat16", "float32", "float64"}
_CAST = frozenset(("float32", *LOW_PRECISION))


_IN_PLACE = frozenset(("add_", "subtract_", "multiply_", "divide_", "remainder_"))
"""Of two operands, the first of which is written over: in eager mode the second is cast to its type before, which the
program builder leaves out (measured: 4 bytes an element of float16 or bfloat16 into float32)."""


class Refused(NamedTuple):
    """The line of a cell that runs, the file and its line that it calls, and what Paddle says to it."""

    cell: int
    line: int
    file: str
    file_line: int
    problem: Exception


class Promotions:
    """The first call of a run that was gone on with; None: there was none."""

    def __init__(self) -> None:
        self.first: Refused | None = None


def promoted(runtime: Tensors, name: str, args: Any) -> Any:
    """The arguments of an operator, float32 and low precision among them cast to one type; of one in place the second
    to that of the first."""
    is_in_place = name in _IN_PLACE
    promotion = rule_of(name.rstrip("_") if is_in_place else name).promotes
    if promotion is None:
        return args
    arrays = [runtime.state(one).array for one in args if isinstance(one, paddle.Tensor)]
    types = [array.dtype for array in arrays if array.dtype in _CAST]
    if len(set(types)) < 2:
        return args
    is_float32_first, sized = types[0] == "float32", {one.dtype for one in arrays if one.shape}
    if promotion.of_tensor and len(sized) == 1 and not is_in_place:
        return cast_to(sized.pop(), args)
    if promotion.takes_low and is_float32_first and runtime.target == "gpu":
        return args
    return cast_to("float32", args) if is_float32_first or not is_in_place else args


def alike(runtime: Tensors, args: Any, problem: Exception) -> Any:
    """A call's arguments with tensors of one type; None where it was refused for something else, or by a cell."""
    if _REFUSED.search(str(problem)) is None:
        return None
    frame = call_stack.caller((call_stack.TRACER, call_stack.PADDLE))
    types = {name_of(one.dtype) for one in args if isinstance(one, paddle.Tensor)}
    if frame is None or not _is_of_script() or call_stack.cell_of(frame.f_code.co_filename) is not None:
        return None
    cell, line = call_stack.place()
    if len(types) <= 1 or not types <= _KNOWN:
        return None
    found = runtime.of(Promotions)
    bare = TypeError(str(problem))  # the problem's own traceback would hold what its frames had in memory
    found.first = found.first or Refused(cell, line, _shown(frame.f_code.co_filename), frame.f_lineno, bare)
    first = next(name_of(one.dtype) for one in args if isinstance(one, paddle.Tensor))
    common = str(np.result_type(*types)) if types <= _WHOLE else first
    others = {id(one) for one in args if isinstance(one, paddle.Tensor) and name_of(one.dtype) != common}
    return tuple(one.astype(common) if id(one) in others else one for one in args)


def _is_of_script() -> bool:
    """Whether what runs is a script, and no notebook's cell, no kernel's live object."""
    return bool(getattr(sys.modules.get("__main__"), "__file__", None)) and call_stack.line() > 0


def _shown(file: str) -> str:
    """A file as its program's folder knows it."""
    path = Path(call_stack.file_of(file))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
