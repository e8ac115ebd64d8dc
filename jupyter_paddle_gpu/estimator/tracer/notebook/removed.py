"""Names that a library has no more (`np.float`, `paddle.fluid`): where a statement speaks of one, the job stops there
whatever the data is.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from types import FrameType, ModuleType, TracebackType

from .. import call_stack
from ..patches.absent_modules import is_gone
from .syntax import statements_at

_LIBRARIES = ("numpy", "paddle", "pandas", "scipy")
_OF_THESE = rf"({'|'.join(_LIBRARIES)})\b"
_SAID = re.compile(
    rf"^module '{_OF_THESE}[\w.]*' has no attribute|^cannot import name '\w+' from '{_OF_THESE}|"
    r"^`np\.\w+` was removed in the NumPy|\(InvalidType\) Type promotion only support"
)
"""What a library says of a name that it has no more (`np.int`), and Paddle of types that it takes together no more."""
_LATER = (ast.Lambda, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp,
          ast.BoolOp, ast.stmt)  # fmt: skip
"""Code in a statement that may not run."""


def is_removed(problem: BaseException) -> bool:
    """Whether it hangs on types and names alone."""
    is_named = isinstance(problem, (AttributeError, TypeError, ImportError)) and _SAID.search(str(problem)) is not None
    return is_named or is_gone(problem)


def named_in(problem: BaseException) -> AttributeError | None:
    """The error that the statement which data kept from running raises with data as well, for such a name in it."""
    step = _own(problem.__traceback__)
    if step is None:
        return None
    here = statements_at("".join(linecache.getlines(step.tb_frame.f_code.co_filename)), step.tb_lineno)
    if not here:
        return None
    statement = max(here, key=lambda node: (node.lineno, node.col_offset))
    found = _missing(statement, step.tb_frame)
    return None if found is None else found.with_traceback(
        TracebackType(None, step.tb_frame, step.tb_lasti, step.tb_lineno)
    )  # fmt: skip


def _own(step: TracebackType | None) -> TracebackType | None:
    found = None
    while step is not None:
        found = step if call_stack.is_cell(step.tb_frame.f_code.co_filename) else found
        step = step.tb_next
    return found


def _missing(node: ast.AST, frame: FrameType) -> AttributeError | None:
    if isinstance(node, ast.Attribute) and isinstance(owner := _module(node.value, frame), ModuleType):
        try:
            getattr(owner, node.attr)
        except AttributeError as error:
            return error if is_removed(error) else None
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _LATER) and (found := _missing(child, frame)) is not None:
            return found
    return None


def _module(node: ast.expr, frame: FrameType) -> ModuleType | None:
    """The library that a dotted name stands for."""
    if isinstance(node, ast.Name):
        found = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    else:
        owner = _module(node.value, frame) if isinstance(node, ast.Attribute) else None
        found = None if owner is None else sys.modules.get(f"{owner.__name__}.{node.attr}")  # type: ignore[attr-defined]
    is_known = isinstance(found, ModuleType) and found.__name__.partition(".")[0] in _LIBRARIES
    return found if is_known else None
