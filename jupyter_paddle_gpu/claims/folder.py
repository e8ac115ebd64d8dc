"""The shared folder: which one is trusted, one's own file in it, and what the others' files say.

Anybody may put anything there. Only the owner of a file speaks through it (the kernel says who that is), no link is
followed, nothing but a plain file is opened, and of each user only so many files are read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..domain.messages import Message
from . import records

FILES_OF_A_USER = 32
"""So many of one user's stores count: whoever makes more hides nobody's but his own."""
_NAMES = 8
"""So many names are tried for one's own file, should somebody else have made one of that name."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_SHARED = stat.S_ISVTX | stat.S_IWOTH


class Written(msgspec.Struct, frozen=True):
    """A claim, and the user who wrote it."""

    user: int
    inode: int
    claim: records.Claim


def fault(folder: Path) -> Message | None:
    """Why a folder is not used; None where it may be. It must be root's, and nobody may rename another's files."""
    try:
        status = folder.lstat()
    except OSError:
        return Message(
            code="claims_alone",
            text="Devices are not shared with other users of this machine: the folder {folder} does not exist.",
            hint="Where several people use these devices: `sudo install -d -m 1777 {folder}`.",
            params={"folder": str(folder)},
        )
    if stat.S_ISDIR(status.st_mode) and status.st_uid == 0 and status.st_mode & _SHARED == _SHARED:
        return None
    return Message(
        code="claims_not_trusted",
        text="The folder {folder} is not used to share devices: it must be a folder of root's with mode 1777.",
        hint="Make it anew: `sudo rm -r {folder}` and `sudo install -d -m 1777 {folder}`.",
        params={"folder": str(folder)},
    )


def open_own(folder: Path, store: Path) -> int:
    """A descriptor of the file for a store's claims, made where there is none. Raises `OSError`."""
    failure: OSError | None = None
    for path in _own_paths(folder, store):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o644)
        except OSError as error:  # another user's, a link
            failure = error
            continue
        try:
            _prepare(descriptor)
        except OSError as error:
            os.close(descriptor)
            failure = error
            continue
        return descriptor
    assert failure is not None
    raise failure


def own_inode(folder: Path, store: Path) -> int | None:
    """Which file of the folder is this store's; None where it has none yet."""
    for path in _own_paths(folder, store):
        try:
            status = path.lstat()
        except OSError:
            continue
        if _is_own(status):
            return status.st_ino
    return None


def _own_paths(folder: Path, store: Path) -> Iterator[Path]:
    name = f"{os.geteuid()}-{hashlib.sha256(os.fsencode(store)).hexdigest()[:16]}"
    return (folder / (f"{name}-{number}" if number else name) for number in range(_NAMES))


def _is_own(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1


def _prepare(descriptor: int) -> None:
    status = os.fstat(descriptor)
    if not _is_own(status):
        raise PermissionError("not a file of this user's alone")
    if status.st_size < records.FILE_BYTES:
        os.fchmod(descriptor, 0o644)  # whatever the umask says: the others are to read it
        os.pwrite(descriptor, bytes(records.FILE_BYTES), 0)


def written(folder: Path) -> Iterator[Written]:
    """All claims of all files, whether or not anybody still lives who made them."""
    counted: Counter[int] = Counter()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield from _of_file(entry, counted)
    except OSError:  # the folder went
        return


def _of_file(entry: os.DirEntry[str], counted: Counter[int]) -> Iterator[Written]:
    try:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or counted[status.st_uid] >= FILES_OF_A_USER:
            return
        descriptor = os.open(entry.path, os.O_RDONLY | _FLAGS)
    except OSError:  # gone, closed to us: then it speaks for nobody
        return
    try:
        status = os.fstat(descriptor)  # of what was opened, whatever was there before
        counted[status.st_uid] += 1
        if stat.S_ISREG(status.st_mode):
            _, claims = records.read(descriptor)
            for claim in claims:
                yield Written(status.st_uid, status.st_ino, claim)
    finally:
        os.close(descriptor)
