"""A script as a notebook: one cell that gives it its file and its arguments, and one that is the script.

What reads, estimates and runs notebooks so reads, estimates and runs scripts; lines of the second cell are lines of the
script.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SUFFIX = ".py"
_KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


def is_script(path: Path) -> bool:
    """Whether a file is one, by its name."""
    return path.suffix.lower() == SUFFIX


def started_in(path: Path) -> Path | None:
    """The folder in which `python path` would run it, where that is one above the script's own: `tools/train.py` of a
    repository finds its configurations there. None is the script's own folder, also for one started from a home folder
    or the root, which no job is to be given as a whole."""
    here = Path.cwd()
    is_above = here in path.parents and here != path.parent
    return here if is_above and here not in {Path.home(), Path(here.anchor)} else None


def as_notebook(text: str, path: Path, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """The notebook (nbformat 4 JSON) that does what `python path arguments` does in the script's folder."""
    file = str(path)
    begin = (
        f"# {path.name} as a script\n"
        "import sys\n"
        f"__file__ = {file!r}\n"
        f"sys.argv = {[file, *arguments]!r}\n"
        f"sys.path.insert(0, {str(path.parent)!r})"
    )
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": dict(_KERNELSPEC), "language_info": {"name": "python"}},
        "cells": [_cell(begin, "arguments", path), _cell(text, "script", path)],
    }


def _cell(source: str, role: str, path: Path) -> dict[str, Any]:
    # The same script gives the same notebook: what is remembered of it is found again.
    identity = uuid.uuid5(uuid.NAMESPACE_URL, f"{path}#{role}").hex[:12]
    return {
        "cell_type": "code",
        "id": identity,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    }
