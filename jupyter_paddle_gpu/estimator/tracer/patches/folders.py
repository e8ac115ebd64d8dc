"""Files and folders of data that are not on this machine: `glob` and `os.walk` find nothing in them and say nothing.

A program that goes on with no files at all fails far from the cause, or makes arrays of no rows. Asked by a cell or a
module beside the notebook, what looks for data in a folder that is not here fails as `os.listdir` does. What such code
asks whether it is there (`os.path.exists`) and is told is not is kept: where the program ends without it, another trace
is told that it is there, and gets as far as its opening.
"""

from __future__ import annotations

import errno
import glob
import os
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import call_stack
from ..session import Session
from ..undecided import made_up
from . import patch
from .patch import Patch, Replacement

_STATES = (".pdparams", ".pdopt", ".pdema", ".pdmodel", ".pdiparams", ".ckpt", ".pt", ".pth", ".log")
"""How patterns end that look for what an earlier run has left: none there is a usual answer."""


@dataclass
class LookedFor:
    """What the program's own code asked for.

    Attributes:
        absent: what it was told is not there: the function that it asked by, and the path, in the order of asking.
        presumed: what it is told is there all the same.
    """

    absent: dict[tuple[str, str], None] = field(default_factory=dict)
    presumed: frozenset[tuple[str, str]] = frozenset()


def _asked(name: str) -> Replacement:
    def replacement(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> bool:
        is_there = made_up.is_path(path) or bool(original(path, *args, **kwargs))
        if is_there or not isinstance(path, (str, os.PathLike)):
            return is_there
        frame = call_stack.caller((__file__, patch.__file__))  # what the tracer itself asks is no matter of the program
        if frame is None or not call_stack.is_beside(frame.f_code.co_filename):
            return False
        looked_for, asked = session.of(LookedFor), (name, str(os.fspath(path)))
        if not asked[1].endswith(_STATES):
            looked_for.absent[asked] = None
        return asked in looked_for.presumed

    return replacement


def _globbed(session: Session, original: Callable[..., Any], pathname: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(pathname, str):
        if (found := made_up.listed(pathname)) is not None:
            return iter(found) if original.__name__ == "iglob" else found
        _must_be_here(os.path.join(kwargs.get("root_dir") or "", pathname))  # noqa: PTH118 - as glob itself does
    return original(pathname, *args, **kwargs)


def _globbed_below(session: Session, original: Callable[..., Any], self: Any, pattern: str, *args: Any) -> Any:
    _must_be_here(str(self / pattern))
    return original(self, pattern, *args)


def _listed(session: Session, original: Callable[..., Any], path: Any = ".") -> Any:
    """`os.listdir(...)`."""
    found = made_up.listed(os.path.join(path, "*.jpg")) if made_up.is_path(path) else None  # noqa: PTH118
    return original(path) if found is None else [os.path.basename(one) for one in found]  # noqa: PTH119


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
    """What lists files by a pattern, or a folder with all below it, and what tells whether one is there."""
    yield Patch(glob, "glob", _globbed)
    yield Patch(glob, "iglob", _globbed)
    yield Patch(os, "listdir", _listed)
    yield Patch(os, "walk", _walked)
    for name in ("glob", "rglob"):
        yield Patch(pathlib.Path, name, _globbed_below)
    for owner, names in ((os.path, ("exists", "isfile", "isdir")), (pathlib.Path, ("exists", "is_file", "is_dir"))):
        for name in names:
            yield Patch(owner, name, _asked(name))
