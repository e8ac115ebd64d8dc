"""Paths of data that is not here, while samples are made up (`variants`): `os.path.join(root, name)` of a name that
stands in a list which is not here, and the files of such a folder."""

from __future__ import annotations

import os
from typing import Any

from .variants import may_spend, present

_FOLDER = "-made-up-"
_PATH = f"{_FOLDER}/1/1.jpg"
"""A file in a folder; frames of a film are called by numbers, and folders by those of classes."""
_FEWEST = 100
"""Files of a folder: programs leave folders out that hold few."""


def path() -> str:
    """One of unknown content; empty where none is made up."""
    return _PATH if present() is not None and may_spend() else ""


def is_path(path: Any) -> bool:
    """Whether a path is made up."""
    return present() is not None and isinstance(path, (str, os.PathLike)) and _FOLDER in str(os.fspath(path))


def listed(pattern: str) -> list[str] | None:
    """The files that a pattern of a made-up folder finds; None where it is none, or no more is made up."""
    variant = present()
    if variant is None or not is_path(pattern) or not may_spend(_FEWEST):
        return None
    return [pattern.replace("**", "1").replace("*", str(number)) for number in range(1, _FEWEST + variant.length + 1)]
