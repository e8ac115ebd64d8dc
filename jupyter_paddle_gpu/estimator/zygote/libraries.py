"""Imports what a notebook will import anyway before the fork, so that its next estimates do not wait for it."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Libraries:
    """What was imported so far; installed libraries only, named by the server."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._fonts = ""

    def load(self, names: Iterable[str]) -> bool:
        """Import what is new; a failure is left for the notebook to meet. Whether there was anything."""
        new = [name for name in names if name not in self._known and name not in sys.modules]
        if not new:
            return False
        self._known.update(new)
        if any(name.startswith(("matplotlib", "seaborn")) for name in new):
            self._keep_fonts_apart()
        gc.disable()  # what an import makes stays, so there is nothing to search for; see `__main__`
        for name in new:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
        gc.enable()
        gc.freeze()
        return True

    def close(self) -> None:
        """Remove what was written for matplotlib."""
        if self._fonts:
            shutil.rmtree(self._fonts, ignore_errors=True)

    def _keep_fonts_apart(self) -> None:
        # Without a list of fonts matplotlib makes one, for seconds, and writes it into the person's cache.
        os.environ.setdefault("MPLBACKEND", "Agg")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "matplotlib"
        if "MPLCONFIGDIR" not in os.environ and not any(cache.glob("fontlist*.json")):
            self._fonts = os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="paddle-gpu-fonts-")
