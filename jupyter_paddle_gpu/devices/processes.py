"""Who owns a process that holds device memory."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import msgspec
import psutil

from ..domain.devices import DeviceProcess

_HOST_PID_NAMESPACE = "pid:[4026531836]"
"""The first PID namespace of a Linux kernel (PROC_PID_INIT_INO in include/linux/proc_ns.h)."""
JOB_VARIABLE = "PADDLE_GPU_JOB_ID"
"""Names the job in the environment of its processes, whichever engine started them."""
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
        if (known := self._known.get(pid)) is None or not psutil.pid_exists(pid):
            known = _look(pid, self._root) if self._on_host else DeviceProcess(pid=pid)
        process = msgspec.structs.replace(known, memory_bytes=memory_bytes, utilization=utilization)
        self._next[pid] = process
        return process


_CONTAINER = re.compile(
    r"(?:docker[-/]|cri-containerd-|crio-|libpod-|/)([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE
)
"""A container's identity in the path of its control group, as Docker, containerd, CRI-O and Podman name them."""


def _container(pid: int, root: Path) -> str | None:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found = _CONTAINER.search((root / f"proc/{pid}/cgroup").read_text())
        return found[1][:12] if found else None
    return None


def _look(pid: int, root: Path) -> DeviceProcess:
    user = command = job = None
    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        user = process.username()
        command = " ".join(process.cmdline())[:MAX_COMMAND] or process.name()
        job = process.environ().get(JOB_VARIABLE) or None  # last: it may be read of one's own processes alone
    return DeviceProcess(pid=pid, user=user, command=command, container=_container(pid, root), job_id=job)
