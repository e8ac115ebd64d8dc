"""Programs of Python that cells start by a line of the shell (`!python train.py`), or by a call whose status they throw
away (`os.system("python train.py")`), and that end badly: the cell goes on behind them, as in Jupyter, and nobody who
looks at the job alone would know."""

import functools
import os
import re
import shlex
import sys
from types import FrameType
from typing import Any, Callable, Iterable, List, Optional

_TOOLS = frozenset({"pip.py", "ensurepip.py", "venv.py"})
"""Modules that are run by `-m` and whose end says nothing of a training."""
_INTERRUPTED = 130
_failed: List[int] = []


def ended(command: str, status: int) -> None:
    """Take note of how a line of the shell ended."""
    if status not in (0, _INTERRUPTED) and any(map(_is_program, re.split(r"[;&|\n]+", command))):
        _failed.append(status)


def heed(sources: Iterable[str]) -> None:
    """Take note of programs that cells start by a call, too, where they do nothing with how these ended."""
    if not any(map(_CALLS.search, sources)):
        return
    import subprocess  # which takes longer to import than most cells run

    os.system = _heeding(os.system, _status_of_wait)
    for name in ("run", "call"):
        setattr(subprocess, name, _heeding(getattr(subprocess, name), lambda done: getattr(done, "returncode", done)))


def _status_of_wait(status: int) -> int:
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def _heeding(start: Callable[..., Any], status_of: Callable[[Any], int]) -> Callable[..., Any]:
    @functools.wraps(start)
    def started(*given: Any, **named: Any) -> Any:
        done = start(*given, **named)
        if _is_thrown_away(sys._getframe(1)):
            what = given[0] if given else named.get("args", named.get("command", ""))
            command = shlex.join(map(os.fspath, what)) if isinstance(what, (list, tuple)) else os.fsdecode(what)
            status = status_of(done)
            ended(command, status if status >= 0 else 128 - status)
        return done

    return started


_CALLS = re.compile(r"\b(subprocess|system)\b")
_THROWN_AWAY = frozenset({"POP_TOP", "PRINT_EXPR"})
"""What Python does with the value of a statement that is a call; at the prompt it shows it."""


def _is_thrown_away(frame: Optional[FrameType]) -> bool:
    """Whether the call that a frame is in is a statement by itself."""
    if frame is None:
        return False
    import dis  # see above

    behind = (one for one in dis.get_instructions(frame.f_code) if one.offset > frame.f_lasti)
    following = next((one for one in behind if one.opname not in ("CACHE", "EXTENDED_ARG")), None)
    if following is None:
        return False
    return following.opname in _THROWN_AWAY or "PRINT" in str(following.argrepr)


def taken() -> int:
    """The exit status of the first program that ended badly since this was asked last; 0: none did."""
    status = _failed[0] if _failed else 0
    _failed.clear()
    return status


def _is_program(part: str) -> bool:
    from . import scripts  # which takes longer to import than most cells run

    try:
        found = scripts.started(shlex.split(part))
    except ValueError:
        return False
    return found is not None and found.path not in _TOOLS
