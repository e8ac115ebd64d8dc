"""`import paddle` in little more than half its time, with the same result.

What is not needed for training waits until somebody looks into it (`lazy_modules`), and what needs no library of
Paddle's is imported while that loads (`preload`). Measured on Paddle 3.3.1; where another version cannot bear it, the
server starts the zygote anew without any of this.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from .lazy_modules import Finder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

POSTPONED = {"paddle.utils.cpp_extension": "setuptools", "httpx": "httpx"}
"""Half of what Paddle's own modules take, with what each needs: the first imports setuptools and looks for compilers
with child processes, the second, which downloads, imports rich and click."""
MEANWHILE = ("http.server", "tarfile", "zipfile", "pdb", "calendar", "json", "logging.handlers", "typing_extensions")
"""Modules without a library of their own that Paddle imports; those with one would wait for the loader's lock."""


class _SetuptoolsFirst:
    """Brings setuptools before pip, as `import paddle` does.

    Whoever imports pip (PaddleNLP does on its way) has setuptools leave `distutils` to Python from then on
    (`_distutils_hack.spec_for_pip`), and a setuptools that comes later stops with an AssertionError about it.
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Finds nothing itself."""
        if name == "pip":
            # A new list: the import system is going through the present one, and would pass over the next finder.
            sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
            with contextlib.suppress(ImportError):
                importlib.import_module("setuptools")


def _postponed() -> frozenset[str]:
    """What can wait; without its library a module is imported at once, and ends `import paddle` as it does in a job
    (Python from 3.12 on brings no setuptools)."""
    return frozenset(name for name, needed in POSTPONED.items() if importlib.util.find_spec(needed) is not None)


def quickly() -> Any:
    """Paddle's package; raises what `import paddle` raises."""
    with contextlib.suppress(ImportError):  # Paddle itself will say so, if it is of importance
        for name in MEANWHILE:
            importlib.import_module(name)
    with Finder(_postponed()):
        paddle = importlib.import_module("paddle")
    if "setuptools" not in sys.modules:
        sys.meta_path.insert(0, _SetuptoolsFirst())
    return paddle
