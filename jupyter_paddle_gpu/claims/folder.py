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
from typing import NamedTuple

from ..domain.messages import Message

FILES_OF_A_USER = 32
"""So many of one user's stores count: whoever makes more hides nobody's but his own."""
_NAMES = 8
"""So many names are tried for one's own file, should somebody else have made one of that name."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_SHARED = stat.S_ISVTX | stat.S_IWOTH


class SharedFile(NamedTuple):
    """A file of the folder, open to be read.

    Attributes:
        user: whose it is, which the system knows.
    """

    name: str
    user: int
    inode: int
    descriptor: int


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


def name_of(user: int) -> str:
    """A user's name; the number of one who has none."""
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def open_own(folder: Path, store: Path, size: int) -> int:
    """A descriptor of a store's own file of so many bytes, made where there is none. Raises `OSError`."""
    failure: OSError | None = None
    for path in own_paths(folder, store):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o644)
        except OSError as error:  # another user's, a link
            failure = error
            continue
        try:
            _prepare(descriptor, size)
        except OSError as error:
            os.close(descriptor)
            failure = error
            continue
        return descriptor
    assert failure is not None
    raise failure


def own_inode(folder: Path, store: Path) -> int | None:
    """Which file of the folder is this store's; None where it has none yet."""
    for path in own_paths(folder, store):
        try:
            status = path.lstat()
        except OSError:
            continue
        if _is_own(status):
            return status.st_ino
    return None


def own_paths(folder: Path, store: Path) -> Iterator[Path]:
    """Where a store's own file may lie, the first name first."""
    name = f"{os.geteuid()}-{hashlib.sha256(os.fsencode(store)).hexdigest()[:16]}"
    return (folder / (f"{name}-{number}" if number else name) for number in range(_NAMES))


def _is_own(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1


def _prepare(descriptor: int, size: int) -> None:
    status = os.fstat(descriptor)
    if not _is_own(status):
        raise PermissionError("not a file of this user's alone")
    if status.st_size < size:
        os.fchmod(descriptor, 0o644)  # whatever the umask says: the others are to read it
        os.pwrite(descriptor, bytes(size), 0)


def files(folder: Path) -> Iterator[SharedFile]:
    """Everybody's files, so many of each user's, each open until the next one is asked for."""
    counted: Counter[int] = Counter()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield from _opened(entry, counted)
    except OSError:  # the folder went
        return


def _opened(entry: os.DirEntry[str], counted: Counter[int]) -> Iterator[SharedFile]:
    try:
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or not status.st_size or counted[status.st_uid] >= FILES_OF_A_USER:
            return
        descriptor = os.open(entry.path, os.O_RDONLY | _FLAGS)
    except OSError:  # gone, closed to us: then it speaks for nobody
        return
    try:
        status = os.fstat(descriptor)  # of what was opened, whatever was there before
        counted[status.st_uid] += 1
        if stat.S_ISREG(status.st_mode):
            yield SharedFile(entry.name, status.st_uid, status.st_ino, descriptor)
    finally:
        os.close(descriptor)
