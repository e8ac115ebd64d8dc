"""Folders of data that are not on this machine: `glob` and `os.walk` find nothing in them and say nothing.

A program that goes on with no files at all fails far from the cause, or makes arrays of no rows. Asked by a cell or a
module beside the notebook, what looks for data in a folder that is not here fails as `os.listdir` does.
"""

from __future__ import annotations

import errno
import glob
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import call_stack
from ..session import Session
from .patch import Patch

_STATES = (".pdparams", ".pdopt", ".pdema", ".pdmodel", ".pdiparams", ".ckpt", ".pt", ".pth", ".log")
"""How patterns end that look for what an earlier run has left: none there is a usual answer."""


def _globbed(session: Session, original: Callable[..., Any], pathname: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(pathname, str):
        _must_be_here(os.path.join(kwargs.get("root_dir") or "", pathname))  # noqa: PTH118 - as glob itself does
    return original(pathname, *args, **kwargs)


def _globbed_below(session: Session, original: Callable[..., Any], self: Any, pattern: str, *args: Any) -> Any:
    _must_be_here(str(self / pattern))
    return original(self, pattern, *args)


def _walked(session: Session, original: Callable[..., Any], top: Any, *args: Any, **kwargs: Any) -> Any:
    _must_be_here(os.fspath(top))
    return original(top, *args, **kwargs)


def _must_be_here(pattern: Any) -> None:
    """Raises `FileNotFoundError` where a cell looks for data in a folder that is not here."""
    frame = call_stack.caller()
    if frame is None or not call_stack.is_beside(frame.f_code.co_filename) or not isinstance(pattern, str):
        return
    folder = _folder(pattern)
    if folder and not pattern.endswith(_STATES) and not os.path.exists(folder):  # noqa: PTH110 - as glob looks
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)


def _folder(pattern: str) -> str:
    """The part of a pattern before the first name with a wildcard; all of it where there is none."""
    path = pathlib.PurePath(pattern)
    plain = [number for number, part in enumerate(path.parts) if glob.has_magic(part)]
    return str(pathlib.PurePath(*path.parts[: plain[0]])) if plain and plain[0] else "" if plain else pattern


def patches() -> Iterator[Patch]:
    """What lists files by a pattern, or a folder with all below it."""
    yield Patch(glob, "glob", _globbed)
    yield Patch(glob, "iglob", _globbed)
    yield Patch(os, "walk", _walked)
    for name in ("glob", "rglob"):
        yield Patch(pathlib.Path, name, _globbed_below)
