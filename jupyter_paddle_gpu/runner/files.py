"""Files that are never seen half written, and how a full disk is recognised."""

import contextlib
import errno
import json
import os
from pathlib import Path
from typing import Any, Union

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_full(error: BaseException) -> bool:
    """Whether an error says: no space, no quota, or the file-size limit reached."""
    return isinstance(error, OSError) and error.errno in _FULL


def write_all(descriptor: int, data: Union[bytes, memoryview]) -> None:
    """`os.write` until everything is written; raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace(path: Path, data: bytes) -> None:
    """Write by temporary file, fsync and rename: a reader sees the old content or the new one. Raises `OSError`."""
    temporary = path.with_name(".%s.%d.tmp" % (path.name, os.getpid()))
    try:
        # What lies there is a dead process's, or a link that somebody put there to be followed.
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        descriptor = os.open(str(temporary), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def keep(path: Path, size: int) -> None:
    """Take so many bytes of the disk for `replace_within`; where it has no such space, without a word."""
    with contextlib.suppress(OSError):
        replace(path, os.urandom(size))  # what no file system compresses away


def replace_within(kept: Path, path: Path, data: bytes) -> None:
    """`replace`, in the space of a file that was kept for it: a full disk does not matter. Raises `OSError`."""
    try:
        descriptor = os.open(str(kept), os.O_WRONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        replace(path, data)
        return
    try:
        write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    kept.replace(path)


def replace_json(path: Path, value: Any) -> None:
    """`replace` with JSON."""
    replace(path, as_json(value))


def as_json(value: Any) -> bytes:
    """JSON in UTF-8, one line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
