"""Programs of Python that cells start by a line of the shell (`!python train.py`) and that end badly: the cell goes on
behind them, as in Jupyter, and nobody who looks at the job alone would know."""

import re
import shlex
from typing import List

_TOOLS = frozenset({"pip.py", "ensurepip.py", "venv.py"})
"""Modules that are run by `-m` and whose end says nothing of a training."""
_INTERRUPTED = 130
_failed: List[int] = []


def ended(command: str, status: int) -> None:
    """Take note of how a line of the shell ended."""
    if status not in (0, _INTERRUPTED) and any(map(_is_program, re.split(r"[;&|\n]+", command))):
        _failed.append(status)


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
