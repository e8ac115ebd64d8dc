"""As whom a job runs: never as root where that can be helped.

A job writes files of the host, so its user id there decides what it may change and what a file with the setuid bit that
it leaves behind is worth. In a daemon's user namespace an id inside is another one outside.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from .connection.daemon import DaemonFacts
from .settings import DockerSettings

JOB_ID = 65532
"""User and group of a job that nobody else can be found for. No distribution and no service gives it away: systemd
leaves 65520 to 65533 unused (uid-gid.md), and 16 bits hold it, so a user namespace of the usual size has it."""
DESKTOP_ID = 1000
"""Any id but root's: Docker Desktop gives every file to its user, whoever writes it."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who a job is.

    Attributes:
        uid, gid: as in the container; host_uid, host_gid: as on the host's files.
        in_namespace: within the daemon's user namespace, where it has one; else the host's own ids hold.
        is_stranger: nobody's: the notebook's folder is not this user's and has to be opened to it.
    """

    uid: int
    gid: int
    host_uid: int
    host_gid: int
    in_namespace: bool = False
    is_stranger: bool = False

    @property
    def user(self) -> str:
        """As Docker has it."""
        return f"{self.uid}:{self.gid}"


def identity_of(settings: DockerSettings, facts: DaemonFacts, folder: Path) -> Identity:
    """Who a job on the notebook's `folder` runs as.

    What the settings say; else the caller, so that what a job writes is theirs; where the caller is root (a server
    inside a container, a class hub) the owner of the folder; and where that is root as well, `JOB_ID`.
    """
    if settings.user:
        uid, _, gid = settings.user.partition(":")
        return _inside(int(uid), int(gid or uid), facts) if uid == "0" else _outside(int(uid), int(gid or uid))
    if facts.rootless:  # 0 inside is the user who runs the daemon
        return Identity(uid=0, gid=0, host_uid=os.getuid(), host_gid=os.getgid())
    if not hasattr(os, "getuid"):
        return _outside(DESKTOP_ID, DESKTOP_ID)
    if os.getuid() != 0:
        return _outside(os.getuid(), os.getgid())
    status = folder.stat()
    if status.st_uid != 0:
        # Root's group could be left behind in a file with the setgid bit.
        return _outside(status.st_uid, status.st_gid or status.st_uid)
    return msgspec.structs.replace(_inside(JOB_ID, JOB_ID, facts), is_stranger=True)


def _outside(uid: int, gid: int) -> Identity:
    return Identity(uid=uid, gid=gid, host_uid=uid, host_gid=gid)


def _inside(uid: int, gid: int, facts: DaemonFacts) -> Identity:
    """An id of the daemon's namespace. Where it does not tell how that is mapped, only root needs to be in it."""
    first = namespace_of(facts.root) if facts.user_namespace else None
    if first is None:
        return Identity(uid=uid, gid=gid, host_uid=uid, host_gid=gid, in_namespace=uid == 0)
    return Identity(uid=uid, gid=gid, host_uid=first[0] + uid, host_gid=first[1] + gid, in_namespace=True)


def namespace_of(root: str) -> tuple[int, int] | None:
    """The user and group on the host that are root inside, by the name of the daemon's folder
    (`/var/lib/docker/100000.100000`, https://docs.docker.com/engine/security/userns-remap/)."""
    named = re.fullmatch(r"(\d+)\.(\d+)", Path(root).name)
    return (int(named[1]), int(named[2])) if named else None
