"""Reading and writing where a job can write too: no link is followed, nothing but a plain file is opened.

A job in a container owns its folder and may at any moment put a link where a file was. The server, which has rights
over the whole host, must not read or write through it: every open here refuses links (`O_NOFOLLOW`), and a pipe, on
which an open would wait for ever (`O_NONBLOCK`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from pathlib import Path
from typing import IO

from ..runner.files import write_all

_NEVER_WAIT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NEVER_WAIT
_AT = os.open in os.supports_dir_fd and hasattr(os, "fwalk")
"""Whether the system opens relative to an open folder; without it there are no containers with our folders either."""


class LinkError(OSError):
    """A link, a pipe or a device stands where a plain file belongs; it was not followed."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def open_descriptor(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o666, *, at: int | None = None) -> int:
    """As `os.open`, of plain files alone. Raises `LinkError`, else `OSError`."""
    try:
        descriptor = os.open(path, flags | _NEVER_WAIT, mode, dir_fd=at)
    except OSError as error:
        # ENXIO: a pipe without a reader; EMLINK: what some systems say of a link
        raise LinkError(path) if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO) else error from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LinkError(path)
    return descriptor


def open_read(path: Path) -> IO[bytes]:
    """The plain file for reading. Raises `LinkError`, else `OSError`."""
    return os.fdopen(open_descriptor(path), "rb")


def open_append(path: Path) -> IO[bytes]:
    """The plain file for appending, made where there is none. Raises `LinkError`, else `OSError`."""
    return os.fdopen(open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")


def read(path: Path, most: int | None = None) -> bytes:
    """Content of a plain file; `most` bytes: a larger one is an `OSError`. Raises `LinkError`, else `OSError`."""
    with open_read(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read() if most is None else file.read(most)


def open_read_below(root: Path, path: Path) -> IO[bytes]:
    """As `open_read`, of a file in folders between `root` and it, none of which may be a link. Raises `OSError`."""
    names = path.relative_to(root).parts
    if ".." in names or not names:
        raise LinkError(path)
    if not _AT:
        return open_read(path)
    folder = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in names[:-1]:
            inner = _open_folder(folder, name, path)
            os.close(folder)
            folder = inner
        return os.fdopen(open_descriptor(names[-1], at=folder), "rb")
    finally:
        os.close(folder)


def read_below(root: Path, path: Path, most: int) -> bytes:
    """As `read`, of a file in folders between `root` and it, none of which may be a link. Raises `OSError`."""
    with open_read_below(root, path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read(most)


def remove_tree(path: Path) -> None:
    """Remove what is there: a folder with all in it, a file, or a link (not what it leads to)."""
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path)  # follows no link on systems with `openat`, even one that is exchanged meanwhile


def is_file(path: Path) -> bool:
    """Whether a plain file is there, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def write(path: Path, data: bytes) -> None:
    """Write by rename, through a file nobody else could have made. Raises `OSError`."""
    write_below(path.parent, path, data)


def write_below(root: Path, path: Path, data: bytes) -> None:
    """Write `path` by rename; folders between `root` and it are made, and none of them may be a link.

    A link at `path` itself is replaced, not followed. Raises `LinkError`, else `OSError`.
    """
    names = path.relative_to(root).parts
    if ".." in names or not names:
        raise LinkError(path)
    if not _AT:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_at(path.parent, path.name, data, None)
        return
    folder = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for name in names[:-1]:
            folder = _enter(folder, name, path)
        _write_at(Path(), names[-1], data, folder)
    finally:
        os.close(folder)


def _enter(folder: int, name: str, path: Path) -> int:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    inner = _open_folder(folder, name, path)
    os.close(folder)
    return inner


def _open_folder(folder: int, name: str, path: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        raise LinkError(path) if error.errno in (errno.ELOOP, errno.ENOTDIR) else error from None


def _write_at(parent: Path, name: str, data: bytes, folder: int | None) -> None:
    temporary = parent / f".{name}.{secrets.token_hex(8)}.tmp"
    try:
        descriptor = open_descriptor(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, at=folder)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, parent / name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def copy_tree(source: Path, target: Path) -> None:
    """Copy plain files and folders. Links are kept where they are relative and stay inside; others are left out.

    A running job may change the source meanwhile: what it exchanges for a link is not followed. Raises `OSError`.
    """
    if not _AT:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        return
    for parent, folders, names, descriptor in os.fwalk(source, follow_symlinks=False):
        within = Path(parent).relative_to(source)
        (target / within).mkdir(exist_ok=True)
        for name in (*folders, *names):
            _copy_entry(descriptor, name, target / within / name, depth=len(within.parts))


def _copy_entry(folder: int, name: str, target: Path, depth: int) -> None:
    with contextlib.suppress(FileNotFoundError, LinkError):  # removed or exchanged since the folder was listed
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            leads = os.readlink(name, dir_fd=folder)
            if _stays(leads, depth):
                target.symlink_to(leads)
        elif stat.S_ISREG(kind):
            with (
                os.fdopen(open_descriptor(name, at=folder), "rb") as old,
                os.fdopen(open_descriptor(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as new,
            ):
                shutil.copyfileobj(old, new, 1 << 20)
                new.flush()
                seen = os.fstat(old.fileno())
                os.fchmod(new.fileno(), stat.S_IMODE(seen.st_mode) & 0o777)
                os.utime(new.fileno(), ns=(seen.st_atime_ns, seen.st_mtime_ns))


def _stays(leads: str, depth: int) -> bool:
    """Whether a link `depth` folders below the top leads nowhere above it, at any of its steps."""
    if leads.startswith("/"):
        return False
    for part in Path(leads).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return False
    return True
