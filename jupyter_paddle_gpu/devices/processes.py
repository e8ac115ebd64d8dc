"""Who owns a process that holds device memory."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from ..domain.devices import DeviceProcess

_HOST_PID_NAMESPACE = "pid:[4026531836]"
"""The first PID namespace of a Linux kernel (PROC_PID_INIT_INO in include/linux/proc_ns.h)."""
MAX_COMMAND = 120
"""Characters of a command line that are kept."""


def numbered_by_host(root: Path = Path("/")) -> bool:
    """Whether the process numbers that we see are the host's, as drivers report them: not in most containers."""
    try:
        return os.readlink(root / "proc/self/ns/pid") == _HOST_PID_NAMESPACE  # noqa: PTH115
    except OSError:
        return False


class Owners:
    """Names users and commands of process ids of the host, as drivers report them.

    In a container the same number is another process, or none: then nothing is said rather than something wrong.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._known: dict[int, DeviceProcess] = {}
        self._next: dict[int, DeviceProcess] = {}
        self._on_host = numbered_by_host(root)

    def refresh(self) -> None:
        """Begin a new reading: ended processes are forgotten, so that a reused number gets its new owner."""
        self._known, self._next = self._next, {}

    def describe(self, pid: int, memory_bytes: int | None, utilization: int | None = None) -> DeviceProcess:
        """The process with its user and command, where they can be told."""
        user, command = None, None
        if (known := self._known.get(pid)) is not None and psutil.pid_exists(pid):
            user, command = known.user, known.command
        elif self._on_host:
            user, command = _look(pid)
        process = DeviceProcess(pid=pid, memory_bytes=memory_bytes, utilization=utilization, user=user, command=command)
        self._next[pid] = process
        return process


def _look(pid: int) -> tuple[str | None, str | None]:
    user: str | None = None
    command: str | None = None
    try:
        process = psutil.Process(pid)
        user = process.username()
        command = " ".join(process.cmdline())[:MAX_COMMAND] or process.name()
    except (psutil.Error, OSError):
        pass
    return user, command
