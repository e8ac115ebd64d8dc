"""Variables that a file beside the program would hold (`.env`), which python-dotenv reads: where there is none, answers
stand for what it says, as in a job (`runner/shells/lookups`)."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from ... import call_stack
from ...session import Session
from ...undecided.absent_data import AbsentData
from ..awaited import Awaited
from ..patch import Patch


class AbsentVariables(OrderedDict[str, "str | None"]):
    """What stands in a file of variables that is not here: as far as it is answered."""


def _read(session: Session, original: Callable[..., Any], file: Any) -> Any:
    """`DotEnv.dict`, by which all of python-dotenv reads a file."""
    found = original(file)
    if file.stream is not None or os.path.exists(file.dotenv_path or ""):  # noqa: PTH110 - as python-dotenv does
        return found
    answers = session.of(AbsentData).answers
    file._dict = AbsentVariables((name, os.environ[name]) for name in answers if name in os.environ)
    return file._dict


def _found(session: Session, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """`find_dotenv()`, which looks beside the file that calls it: a cell is none, and runs in its program's folder."""
    frame: Any = sys._getframe(1)
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        is_between = frame.f_code.co_filename.startswith(call_stack.TRACER)
        if not is_between and not str(frame.f_globals.get("__name__")).startswith("dotenv."):
            return original(*given, **named)
        frame = frame.f_back
    return original(*given, **({"usecwd": True, **named} if len(given) <= _PLACE else named))


_PLACE = 2
"""Of `usecwd` among its arguments."""


def patches() -> Iterator[Patch]:
    """Where python-dotenv looks for a file and reads it."""
    yield Patch(Awaited("dotenv.main"), "find_dotenv", _found)
    yield Patch(Awaited("dotenv.main", "DotEnv"), "dict", _read)
