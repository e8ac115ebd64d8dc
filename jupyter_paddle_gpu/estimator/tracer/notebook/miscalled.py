"""Functions that are called with other arguments than they have, whatever the data is."""

from __future__ import annotations

import ast
import linecache
import re
from types import FrameType

from .. import call_stack
from .syntax import parsed

_MISCALLED = re.compile(r"^[\w.<>]+\(\) (missing \d+ required|got an unexpected keyword)")
"""What Python says of a call with an argument too few, or with one that there is not."""
_TOO_MANY = re.compile(r"^[\w.<>]+\(\) takes (from \d+ to )?\d+ positional arguments? but \d+ (was|were) given")
"""Of one too many, which may be an item of data (`model(*batch)`)."""
_CALLED = re.compile(r"^[\w.]+")


def is_miscalled(problem: BaseException) -> bool:
    """Whether a function is called with other arguments than it has."""
    if not isinstance(problem, TypeError):
        return False
    said = str(problem)
    if _MISCALLED.search(said) is not None:
        return True
    return _TOO_MANY.search(said) is not None and not any(map(_is_starred, _frames(problem)))


def is_of_program(problem: BaseException) -> bool:
    """Whether it is a function of the program's own that is called so, by its name in the code that calls it."""
    if not is_miscalled(problem) or (found := _CALLED.match(str(problem))) is None:
        return False
    first, *rest = found[0].split(".")
    for frame, _ in _frames(problem):
        held = frame.f_globals.get(first)
        for name in rest:
            held = vars(held).get(name) if isinstance(held, type) else None
        if held is not None and hasattr(held, "__module__") and call_stack.is_own(held):
            return True
    return False


def _frames(problem: BaseException) -> list[tuple[FrameType, int]]:
    """The frames of the program's own that an error went through, with their lines."""
    found, step = [], problem.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if call_stack.is_beside(file) and not file.startswith(call_stack.TRACER):
            found.append((step.tb_frame, step.tb_lineno))
        step = step.tb_next
    return found


def _is_starred(at: tuple[FrameType, int]) -> bool:
    """Whether a call that runs is given the items of something."""
    frame, line = at
    tree = parsed("".join(linecache.getlines(frame.f_code.co_filename)))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    here = (one for one in calls if one.lineno <= line <= (one.end_lineno or one.lineno))
    return any(isinstance(part, ast.Starred) for one in here for part in one.args)
