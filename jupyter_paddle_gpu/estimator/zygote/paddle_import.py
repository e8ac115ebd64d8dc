"""`import paddle` in little more than half its time, with the same result.

What is not needed for training waits until somebody looks into it (`postponed`), and what needs no library of Paddle's
is imported while that loads (`ahead`). Measured on Paddle 3.3.1; where another version cannot bear it, the server
starts the zygote anew without any of this.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from .postponed import Finder

POSTPONED = frozenset(("paddle.utils.cpp_extension", "httpx"))
"""Half of what Paddle's own modules take: the first imports setuptools and looks for compilers with child processes,
the second, which downloads, imports rich and click."""
MEANWHILE = ("http.server", "tarfile", "zipfile", "pdb", "calendar", "json", "logging.handlers", "typing_extensions")
"""Modules without a library of their own that Paddle imports; those with one would wait for the loader's lock."""


def quickly() -> Any:
    """Paddle's package; raises what `import paddle` raises."""
    with contextlib.suppress(ImportError):  # Paddle itself will say so, if it is of importance
        for name in MEANWHILE:
            importlib.import_module(name)
    with Finder(POSTPONED):
        return importlib.import_module("paddle")
