"""Parameters of a file that is not here, as `paddle.load` gives them."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from .. import call_stack
from .absent_data import Unseen
from .running_code import assigned


class AbsentWeights(dict[str, Any]):
    """Parameters that are not here: none to go through, and of unknown content where one is asked for, which is known
    by the name that the program gives to all of them.

    Args:
        file: that holds them; empty where it is of no interest.
    """

    def __init__(self, file: str = "") -> None:
        super().__init__()
        self.__dict__["_whole"] = whole = Unseen(name=assigned() or _word(file))
        whole.__dict__["_file"] = file

    def __missing__(self, name: str) -> Any:
        return self.__dict__["_whole"][name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_whole"], name)

    def __len__(self) -> int:
        is_asked = not sys._getframe(1).f_code.co_filename.startswith(call_stack.PADDLE)
        return len(self.__dict__["_whole"]) if is_asked else 0

    def __bool__(self) -> bool:
        return False


def _word(file: str) -> str:
    """A file's name as one of Python's."""
    return re.sub(r"\W+", "_", os.path.splitext(os.path.basename(file))[0]).strip("_")  # noqa: PTH119, PTH122
