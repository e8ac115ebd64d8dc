"""From the path that a person or a browser gave to a file we may read, and back."""

from __future__ import annotations

import errno
from pathlib import Path, PurePosixPath

from ..domain.errors import PaddleGpuError

RTC_DRIVE = "RTC:"
"""Prefix that jupyter-collaboration puts before a contents path."""


def contents_file(path: str, root: Path, *, allow_hidden: bool = False) -> Path:
    """The absolute file for a contents path (`folder/name.ipynb`, relative to the server's root, `/` between names).

    Symbolic links inside the root are kept as they are, so that a notebook's folder is the one its user sees; what
    they lead to must lie inside the root as well.

    Raises:
        PaddleGpuError: `bad_path` (400), `outside_root` (403), `hidden_path` (404).
    """
    names = PurePosixPath("/", path.removeprefix(RTC_DRIVE).strip("/")).parts[1:]
    if not names or "\0" in path:
        raise PaddleGpuError(
            "bad_path", "“{path}” does not name a notebook.", hint="Give a path like folder/name.ipynb.", path=path
        )
    base = root.resolve()
    target = base.joinpath(*names)
    try:
        inside = ".." not in names and target.resolve().is_relative_to(base) and not _goes_in_circles(target)
    except (OSError, RuntimeError):  # a loop of links
        inside = False
    if not inside:
        raise PaddleGpuError(
            "outside_root",
            "“{path}” lies outside the folder that this server shows.",
            hint="Move the notebook into that folder, or start the server in a folder above both.",
            status=403,
            path=path,
        )
    if not allow_hidden and any(name.startswith(".") for name in names):
        raise PaddleGpuError(
            "hidden_path",
            "“{path}” is hidden, and this server shows no hidden files.",
            hint="Rename it without a leading dot, or set ContentsManager.allow_hidden.",
            status=404,
            path=path,
        )
    return target


def _goes_in_circles(path: Path) -> bool:
    """Whether links lead to themselves: from Python 3.13 on `resolve` says nothing of it."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def contents_path(file: Path, root: Path) -> str | None:
    """The contents path of a file, or None where it lies outside the server's root."""
    try:
        return file.relative_to(root.resolve()).as_posix()
    except ValueError:
        return None
