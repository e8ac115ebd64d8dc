"""Faults of the tracer's own code that runs beside a program: they are told as such, and are none of the program's."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from .call_stack import TRACER

Value = TypeVar("Value")
CODE = "suggestion_failed"
BATCH = "batch_search_failed"
"""Codes of the notes by what was being done."""
MOST_CHARACTERS = 2000
"""Of a traceback that is handed on; its end says where it failed."""


def without(
    make: Callable[[], Value], instead: Value, tell: Callable[..., Any], *, is_mixed: bool = False, code: str = CODE
) -> Value:
    """What `make` gives; where it fails, what stands for it.

    Args:
        make: code of the tracer's own, which the program does not know of.
        tell: is called with the fault, as a session's `note` is.
        is_mixed: whether it runs code of the program's in its turn, of which errors go on as they are.
        code: of the note that tells it.
    """
    try:
        return make()
    except Exception as problem:
        if _is_meant(problem) or (is_mixed and not is_own(problem)):
            raise
        tell(code, **parameters(problem))
        return instead


def is_own(problem: BaseException) -> bool:
    """Whether the tracer's code failed by itself: no code of the program's or of a library's took part in it, and
    nothing was raised on purpose."""
    step, last = problem.__traceback__, None
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(TRACER):
            return False
        step, last = step.tb_next, step
    return last is not None and not _is_meant(problem) and not _raises(last)


def parameters(problem: BaseException) -> dict[str, str]:
    """The fault in words, and for the log where it was."""
    text = f"{type(problem).__name__}: {problem}"[:200]
    return {"problem": text, "traceback": "".join(traceback.format_exception(problem))[-MOST_CHARACTERS:]}


def _is_meant(problem: BaseException) -> bool:
    """Whether it is an exception of the tracer's own making."""
    return type(problem).__module__.split(".")[0] == __name__.split(".")[0]


def _raises(step: TracebackType) -> bool:
    """Whether the line that failed says so."""
    return linecache.getline(step.tb_frame.f_code.co_filename, step.tb_lineno).lstrip().startswith("raise")
