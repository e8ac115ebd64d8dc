"""The folder that a program runs in, and what it says while it does."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ...session import Session

_SAID = 2000
"""Characters that are kept of what a program says; of a line that is told, a tenth."""
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def working_in(folder: str | None) -> Iterator[None]:
    """A notebook's folder as that in which its program runs, and whose modules it imports."""
    before = Path.cwd()
    if folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        os.chdir(before)
        if folder and folder in sys.path:
            sys.path.remove(folder)


@dataclass
class Spoken:
    """The end of what was printed and logged: where a program ends itself, that is its reason."""

    text: str = ""

    @property
    def last(self) -> str:
        """Its last line with words in it."""
        lines = (_COLORS.sub("", line).strip() for line in reversed(self.text.splitlines()))
        return next((line[: _SAID // 10] for line in lines if any(map(str.isalpha, line))), "")


class _Stream(io.StringIO):
    """Keeps the end of it alone, for both streams in their order."""

    def __init__(self, spoken: Spoken) -> None:
        super().__init__()
        self._spoken = spoken

    def write(self, text: str) -> int:
        self._spoken.text = (self._spoken.text + text)[-_SAID:]
        return len(text)


def heard(session: Session) -> ExitStack:
    """While the program speaks: nothing of it is shown."""
    stack, spoken = ExitStack(), session.of(Spoken)
    stack.enter_context(redirect_stdout(_Stream(spoken)))
    stack.enter_context(redirect_stderr(_Stream(spoken)))
    return stack
