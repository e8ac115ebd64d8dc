"""Python's sources as trees, from several threads at once.

Python 3.11 counts for all threads together how deep the tree is that it makes. Where another thread has its turn in the
middle of that (a finalizer that the garbage collector runs lets it), both end with a SystemError, "AST constructor
recursion depth mismatch": seen with 3.11.7, not with 3.10, 3.12 and 3.13. So sources are parsed one at a time, and who
meets the thread of another library tries again. Nobody else in the server calls `ast.parse`
(`tests/domain/test_parsing.py`).
"""

from __future__ import annotations

import ast
import threading
import warnings
from contextlib import suppress

_alone = threading.RLock()
_TRIES = 3


def parse(source: str) -> ast.Module:
    """The tree of a source; what Python warns of in it (a wrong escape) is not told.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    with _alone, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_TRIES - 1):
            with suppress(SystemError):
                return ast.parse(source)
        return ast.parse(source)
