"""Opens a folder of root's to the user that a job runs as, by entries in access control lists (acl(5)).

Owner, group and mode of what is there stay as they are, and so do the rights of everybody else. Links are not followed;
a file with more than one name or with a setuid or setgid bit is left alone, because it may be one of the system's.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections import deque
from pathlib import Path

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
_HEADER, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
_VERSION = 2
"""include/uapi/linux/posix_acl_xattr.h"""
_OWNER, _USER, _OWNING_GROUP, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NOBODY = 0xFFFFFFFF
LOOKED_AT = 2000
"""Files and folders of data that are looked at before a job is taken: a few hundredths of a second."""
_READ, _WRITE, _SEARCH = 4, 2, 1

Entries = dict[tuple[int, int], int]
"""(tag, id) -> rights."""


def is_supported(folder: Path) -> bool:
    """Whether the folder's file system keeps such lists; nothing is changed."""
    if not hasattr(os, "getxattr"):
        return False
    try:
        os.getxattr(folder, ACCESS)
    except OSError as error:
        return error.errno == errno.ENODATA
    return True


def may_read(folder: Path, uid: int, gid: int) -> bool:
    """Whether a process of this user and of this group alone may list the folder and open what lies in it, or read it
    where it is a file."""
    status = folder.stat()
    entries = _read(str(folder), ACCESS) if hasattr(os, "getxattr") else None
    entries = entries or _of_mode(status.st_mode)
    mask = entries.get((_MASK, _NOBODY), 7)
    groups = [rights & mask for (tag, number), rights in entries.items() if tag == _GROUP and number == gid]
    if status.st_gid == gid:
        groups.append(entries[_OWNING_GROUP, _NOBODY] & mask)
    if uid == status.st_uid:
        given = [entries[_OWNER, _NOBODY]]
    elif (_USER, uid) in entries:
        given = [entries[_USER, uid] & mask]
    else:
        given = groups or [entries[_OTHER, _NOBODY]]
    wanted = _READ | (_SEARCH if stat.S_ISDIR(status.st_mode) else 0)
    return any(rights & wanted == wanted for rights in given)


def first_closed(data: Path, uid: int, gid: int, most: int = LOOKED_AT) -> Path | None:
    """The first of a folder and what lies in it that such a process may not read; None where there is none among the
    first `most`, nearest first. Links are left out: what they lead to may not be there inside."""
    if not may_read(data, uid, gid):
        return data
    waiting, left = deque([data]), most
    while waiting and left:
        folder = waiting.popleft()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # a file; a folder that went, or that this process may not read itself
            continue
        for entry in entries[:left]:
            left -= 1
            try:
                if entry.is_symlink():
                    continue
                if not may_read(Path(entry.path), uid, gid):
                    return Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
            except FileNotFoundError:  # gone meanwhile
                continue
    return None


def open_to(folder: Path, uid: int) -> bool:
    """Let `uid` read and write everything in the folder, now and what is made there later. Raises `OSError`.

    Returns:
        Whether the folder itself was not open before.
    """
    before = os.getxattr(folder, DEFAULT) if DEFAULT in os.listxattr(folder) else b""
    for _parent, _folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        _open_folder(descriptor, uid)
        for name in names:
            _open_file(descriptor, name, uid)
    return os.getxattr(folder, DEFAULT) != before


def _open_folder(descriptor: int, uid: int) -> None:
    status = os.fstat(descriptor)
    entries = _read(descriptor, ACCESS) or _of_mode(status.st_mode)
    if status.st_uid != uid:
        _write(descriptor, ACCESS, entries, uid, _READ | _WRITE | _SEARCH)
    # What is made later is its maker's, and stays open to both.
    _write(descriptor, DEFAULT, _read(descriptor, DEFAULT) or _of_mode(status.st_mode), uid, _READ | _WRITE | _SEARCH)


def _open_file(folder: int, name: str, uid: int) -> None:
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return  # a link, a socket, a device: nothing of these is opened
        # Not for reading: to close such a descriptor takes this process's locks off the file (POSIX), and the job store
        # or another database of the server's may lie in the folder.
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return
    try:
        status = os.fstat(descriptor)
        plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        if plain and status.st_uid != uid and not status.st_mode & (stat.S_ISUID | stat.S_ISGID):
            search = _SEARCH if status.st_mode & stat.S_IXUSR else 0
            opened = f"/proc/self/fd/{descriptor}"
            entries = _read(opened, ACCESS) or _of_mode(status.st_mode)
            _write(opened, ACCESS, entries, uid, _READ | _WRITE | search)
    finally:
        os.close(descriptor)


def _of_mode(mode: int) -> Entries:
    return {
        (_OWNER, _NOBODY): mode >> 6 & 7,
        (_OWNING_GROUP, _NOBODY): mode >> 3 & 7,
        (_OTHER, _NOBODY): mode & 7,
    }


def _read(file: int | str, name: str) -> Entries | None:
    try:
        raw = os.getxattr(file, name)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):
            return None
        raise
    return {(tag, number): rights for tag, rights, number in _ENTRY.iter_unpack(raw[_HEADER.size :])}


def _write(file: int | str, name: str, old: Entries, uid: int, rights: int) -> None:
    entries = dict(old)
    mask = entries.pop((_MASK, _NOBODY), 7)
    for key in entries:
        # The mask is widened below: what it took away from the others is taken from them for good.
        if key[0] in (_USER, _OWNING_GROUP, _GROUP):
            entries[key] &= mask
    entries[_USER, uid] = rights
    entries[_MASK, _NOBODY] = 0
    for (tag, _), given in entries.items():
        if tag in (_USER, _OWNING_GROUP, _GROUP):
            entries[_MASK, _NOBODY] |= given
    if entries != old:
        raw = b"".join(_ENTRY.pack(tag, given, number) for (tag, number), given in sorted(entries.items()))
        os.setxattr(file, name, _HEADER.pack(_VERSION) + raw)
