"""Whose code runs: a cell of the notebook, a module of Paddle's, or the tracer itself."""

from __future__ import annotations

import itertools
import os
import sys
import traceback
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import paddle

TRACER = str(Path(__file__).parent) + os.sep
PADDLE = str(Path(paddle.__file__).parent) + os.sep
"""What names of their files begin with. (PaddleNLP and its like stand beside Paddle and are programs that use it.)"""
_CELL = "<cell "
_OF = f"{_CELL}of "
_CONTROL_FLOW = "paddle.static.nn.control_flow"


def cell_name(index: Any) -> str:
    """The name under which a cell's code is compiled."""
    return f"{_CELL}{index}>"


def helper_name(path: str) -> str:
    """The name under which the code of helpers is compiled that goes on without its data as a cell's does."""
    return f"{_OF}{path}>"


def is_cell(file: str) -> bool:
    """Whether code of that file is a cell's, or of such helpers."""
    return file.startswith(_CELL)


def is_beside(file: str) -> bool:
    """Whether code of that file is the program's own: a cell's, or that of a module below the folder in which it runs,
    where no library is installed."""
    below = file.startswith(os.path.realpath(os.curdir) + os.sep)
    return is_cell(file) or (below and f"{os.sep}site-packages{os.sep}" not in file)


def cell_of(file: str) -> int | None:
    """The index of the cell whose code is of that file; None where it is no cell's, or helpers'."""
    number = file[len(_CELL) : -1] if is_cell(file) else ""
    return int(number) if number.isdecimal() else None


def file_of(name: str) -> str:
    """The path of a file by the name under which its code is compiled."""
    return name[len(_OF) : -1] if name.startswith(_OF) else name


def line() -> int:
    """The line of the notebook that runs; 0 where it is none of its cells."""
    return place()[1]


def place() -> tuple[int, int]:
    """The index of the notebook's cell that runs, and the line in it; (0, 0) where it is none of its cells."""
    return _place_of(sys._getframe(1))


def place_of_threads() -> tuple[int, int]:
    """The same; of a thread that the notebook has started the line of the cell that waits for it."""
    frames = (sys._getframe(1), *sys._current_frames().values())
    return next((found for found in map(_place_of, frames) if found[1]), (0, 0))


def _place_of(frame: FrameType | None) -> tuple[int, int]:
    while frame is not None and cell_of(frame.f_code.co_filename) is None:
        frame = frame.f_back
    return (0, 0) if frame is None else (cell_of(frame.f_code.co_filename) or 0, frame.f_lineno)


def places() -> frozenset[tuple[int, int]]:
    """The same with each line of the call that runs, where Python knows them (from 3.11 on)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and cell_of(frame.f_code.co_filename) is None:
        frame = frame.f_back
    if frame is None:
        return frozenset()
    known: Any = getattr(frame.f_code, "co_positions", tuple)()
    first, last, *_ = next(itertools.islice(known, frame.f_lasti // 2, None), (None, None))
    lines = range(first or frame.f_lineno, (last or frame.f_lineno) + 1)
    return frozenset((cell_of(frame.f_code.co_filename) or 0, line) for line in lines)


def position(step: TracebackType) -> tuple[int | None, int | None, int | None, int | None] | None:
    """First and last line and column of the expression that runs; None before Python 3.11."""
    known: Any = getattr(step.tb_frame.f_code, "co_positions", tuple)()
    return next(itertools.islice(known, step.tb_lasti // 2, None), None)


def ended_at(problem: BaseException) -> tuple[int, int]:
    """The index of the cell that an exception came through, and the line in it; (0, 0) where it is none."""
    found, step = (0, 0), problem.__traceback__
    while step is not None:
        cell = cell_of(step.tb_frame.f_code.co_filename)
        found = found if cell is None else (cell, step.tb_lineno)
        step = step.tb_next
    return found


def module(problem: BaseException | None = None) -> dict[str, Any]:
    """The module of the program's own that runs, or in which an exception was raised, and the line in it, as the
    parameters of a question; none where that is a cell."""
    frames = traceback.walk_stack(sys._getframe(1)) if problem is None else traceback.walk_tb(problem.__traceback__)
    files = ((frame.f_code.co_filename, line) for frame, line in frames)
    own = [(file, line) for file, line in files if is_beside(file) and not file.startswith(TRACER)]
    file, line = own[0 if problem is None else -1] if own else ("", 0)
    if not file or cell_of(file) is not None:
        return {}
    return {"beside": os.path.relpath(os.path.realpath(file_of(file)), os.path.realpath(os.curdir)), "inner": line}


def names() -> dict[str, Any]:
    """What the program that runs has bound so far, where that is a script which a cell starts, or functions of it."""
    for frame, _ in traceback.walk_stack(sys._getframe(1)):
        own, file = frame.f_globals, frame.f_code.co_filename
        if own.get("__name__") == "__main__" and is_beside(file) and not file.startswith(TRACER):
            return {} if is_cell(file) else own
    return {}


def told() -> dict[str, int]:
    """The same as the parameters of a note, which count cells from 1; none where it is none of its cells."""
    cell, number = place()
    return {"cell": cell + 1, "line": number} if number else {}


HELPER = "__helper__"
"""The name by which the code of helpers tells that it is some."""


def is_own(kind: type) -> bool:
    """Whether a class is the program's: a cell or its helpers define it."""
    return kind.__module__ == "__main__" or HELPER in vars(sys.modules.get(kind.__module__, object))


def caller(below: str | tuple[str, ...] = TRACER) -> FrameType | None:
    """The innermost frame whose code stands in none of the given folders."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(below):
        frame = frame.f_back
    return frame


def of_paddle() -> FrameType | None:
    """The frame that asks the tracer, where that is Paddle's own code."""
    frame = caller()
    return frame if frame is not None and frame.f_code.co_filename.startswith(PADDLE) else None


def of_program() -> FrameType | None:
    """The frame that asks the tracer, where that is the program's; for `static.nn.cond` its caller asks."""
    frame = caller()
    while frame is not None and (_is_cond(frame) or frame.f_code.co_filename.startswith(TRACER)):
        frame = frame.f_back
    return None if frame is None or frame.f_code.co_filename.startswith(PADDLE) else frame


def picks_a_way() -> bool:
    """Whether `paddle.static.nn.cond` asks, to know which of its functions it calls."""
    return _is_cond(caller())


def _is_cond(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_name == "cond" and frame.f_globals.get("__name__") == _CONTROL_FLOW


def was_entered(problem: BaseException) -> bool:
    """Whether a function raised it, and not the call of it: who catches it called that function."""
    return problem.__traceback__ is not None and problem.__traceback__.tb_next is not None
