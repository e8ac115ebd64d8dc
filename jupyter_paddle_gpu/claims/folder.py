"""The shared folder: which one is trusted, one's own file in it, and what the others' files say.

Anybody may put anything there. Only the owner of a file speaks through it (the kernel says who that is), no link is
followed, nothing but a plain file is opened, and of each user only so many files are read.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..domain.messages import Message

FILES_OF_A_USER = 32
"""So many of one user's stores count: whoever makes more hides nobody's but his own."""
PROTECTED_LINKS = Path("/proc/sys/fs/protected_hardlinks")
_NAMES = 8
"""So many names are tried for one's own file, should somebody else have made one of that name."""
_SECRET = "claims.name"
"""In a store's own folder: what makes a name that nobody foretells, where somebody else has made files of all those."""
DEAR_SECONDS = 0.05
"""Processor time of a look through the folder from which on it is not repeated at once: some 20,000 names."""
RESTS = 20
"""So many times as long as that took, the names are taken as they were."""
_TICK_NANOSECONDS = 2_000_000_000
"""Two changes within it could have one time: no file system's clock is coarser."""
_NAME = re.compile(r"\d+-[0-9a-f]{16}(?:-\d)?")
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
        return _replaceable(folder)
    return Message(
        code="claims_not_trusted",
        text="The folder {folder} is not used to share devices: it must be a folder of root's with mode 1777.",
        hint="Make it anew: `sudo rm -r {folder}` and `sudo install -d -m 1777 {folder}`.",
        params={"folder": str(folder)},
    )


def _replaceable(folder: Path) -> Message | None:
    """Whether another than root could put another folder in its place, also while it is being used."""
    above = folder.parent.resolve()
    for parent in (above, *above.parents):
        status = parent.stat()
        writable = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
        if status.st_uid != 0 or writable:
            return Message(
                code="claims_not_trusted",
                text="The folder {folder} is not used to share devices: others than root could replace {parent}.",
                hint="Make it where root alone writes, as {usual}.",
                params={"folder": str(folder), "parent": str(parent), "usual": "/var/lib/paddle-gpu"},
            )
    return None


def links_are_open() -> bool:
    """Whether the kernel lets anybody give another user's file a second name."""
    try:
        return PROTECTED_LINKS.read_text().strip() == "0"
    except OSError:  # no Linux
        return False


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
            _prepare(descriptor, path.name, size)
        except OSError as error:
            os.close(descriptor)
            failure = error
            continue
        return descriptor
    if failure is not None and failure.errno != errno.ENOSPC and _make_secret(store):  # somebody took them all
        return open_own(folder, store, size)
    assert failure is not None
    raise failure


def own_inode(folder: Path, store: Path) -> int | None:
    """Which file of the folder is this store's; None where it has none yet."""
    for path in own_paths(folder, store):
        try:
            descriptor = os.open(path, os.O_RDONLY | _FLAGS)
        except OSError:
            continue
        try:
            if _is_own(descriptor, path.name):
                return os.fstat(descriptor).st_ino
        finally:
            os.close(descriptor)
    return None


def own_paths(folder: Path, store: Path) -> Iterator[Path]:
    """Where a store's own file may lie, the first name first; at last, where the store has one, under a name that
    nobody else could foretell."""
    name = _name_of(store, b"")
    yield from (folder / (f"{name}-{number}" if number else name) for number in range(_NAMES))
    with contextlib.suppress(OSError):
        yield folder / _name_of(store, (store / _SECRET).read_bytes())


def _name_of(store: Path, secret: bytes) -> str:
    return f"{os.geteuid()}-{hashlib.sha256(os.fsencode(store) + secret).hexdigest()[:16]}"


def _make_secret(store: Path) -> bool:
    """Whether the store has a name from now on that it had not: the first of its processes that wants one makes it."""
    if (store / _SECRET).exists():
        return False
    made = store / f"{_SECRET}.{os.getpid()}"
    try:
        made.write_bytes(secrets.token_bytes(16))
        with contextlib.suppress(FileExistsError):
            made.chmod(0o600)
            (store / _SECRET).hardlink_to(made)  # whole, and once
        made.unlink()
    except OSError:
        return False
    return True


def _is_own(descriptor: int, name: str) -> bool:
    status = os.fstat(descriptor)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and _is_its_name(descriptor, name)


def _is_its_name(descriptor: int, name: str) -> bool:
    """Whether a file has the name under which its store made it.

    Where the kernel lets anybody link any file (`fs.protected_hardlinks` is 0) a file may have a second name, and any
    file of a user's may lie here under a store's: those that have two names end with their own.
    """
    status = os.fstat(descriptor)
    signed, place = name.encode(), status.st_size - len(name)
    return status.st_nlink == 1 or (place > 0 and os.pread(descriptor, len(signed), place) == signed)


def _prepare(descriptor: int, name: str, size: int) -> None:
    if not _is_own(descriptor, name):
        raise PermissionError(errno.EPERM, "not a file of this store's", name)
    there, signed = os.fstat(descriptor).st_size, name.encode()
    if there < size + len(signed):
        os.fchmod(descriptor, 0o644)  # whatever the umask says: the others are to read it
        if there < size and os.pwrite(descriptor, bytes(size), 0) < size:  # takes the room
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        os.pwrite(descriptor, signed, size)


def files(folder: Path, *, sure: bool = False) -> Iterator[SharedFile]:
    """Everybody's files, so many of each user's, each open until the next one is asked for.

    Args:
        sure: nobody may be missed: who takes a device looks himself. Else a folder that somebody filled with names is
            not looked through anew each time.
    """
    counted: Counter[int] = Counter()
    for name in _names(folder, sure=sure):
        yield from _opened(folder / name, counted)


class _Listing(NamedTuple):
    """The names of a folder that are those of stores.

    Attributes:
        changed: when a name came or went last, in nanoseconds; None: so shortly before that it could not be told from
            what came next, or a file was left out that may yet say whose it is.
        rests_until: by the monotonic clock.
    """

    names: tuple[str, ...]
    changed: int | None
    rests_until: float


_listings: dict[Path, _Listing] = {}


def _names(folder: Path, *, sure: bool) -> tuple[str, ...]:
    try:
        changed, known = folder.stat().st_mtime_ns, _listings.get(folder)
        if known is not None and (known.changed == changed or (not sure and time.monotonic() < known.rests_until)):
            return known.names
        began = time.thread_time()
        names, certain = _stores(folder)
    except OSError:  # the folder went
        return ()
    took = time.thread_time() - began
    rest = time.monotonic() + RESTS * took if took > DEAR_SECONDS else 0.0
    settled = certain and time.time_ns() - changed > _TICK_NANOSECONDS
    _listings[folder] = _Listing(names, changed if settled else None, rest)
    return names


def _stores(folder: Path) -> tuple[tuple[str, ...], bool]:
    """Names that stores give their files, so many of each user's: whoever makes more hides his own; and whether all
    that were left out stay so while nothing comes or goes."""
    counted: Counter[int] = Counter()
    found, certain = [], True
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _NAME.fullmatch(entry.name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # gone
                continue
            if not stat.S_ISREG(status.st_mode) or counted[status.st_uid] >= FILES_OF_A_USER:
                continue
            if status.st_nlink > 1 and not any(_opened(folder / entry.name, Counter())):
                certain = False  # nobody's of that name: it would count as one of a user's who never put it here
                continue
            counted[status.st_uid] += 1
            found.append(entry.name)
    return tuple(found), certain


def _opened(path: Path, counted: Counter[int]) -> Iterator[SharedFile]:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or not status.st_size or counted[status.st_uid] >= FILES_OF_A_USER:
            return
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:  # gone, closed to us: then it speaks for nobody
        return
    try:
        status = os.fstat(descriptor)  # of what was opened, whatever was there before
        if stat.S_ISREG(status.st_mode) and _is_its_name(descriptor, path.name):
            counted[status.st_uid] += 1
            yield SharedFile(path.name, status.st_uid, status.st_ino, descriptor)
    finally:
        os.close(descriptor)
