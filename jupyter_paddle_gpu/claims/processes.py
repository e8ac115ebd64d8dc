"""Whether the process for which a device is held lives. A slow one does; a number that came again is another's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import msgspec

from .containers import Containers

ROOT = 0
MOST_PID = 1 << 22
"""PID_MAX_LIMIT (include/linux/threads.h)."""


_containers = Containers()


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """A process of this machine, for good.

    Attributes:
        ticks: clock ticks from the boot to its start; None where /proc does not tell.
        boot: of which boot of the machine.
        namespace: in whose numbers `pid` counts; a container has its own.
    """

    pid: Annotated[int, msgspec.Meta(ge=1, le=MOST_PID)]
    ticks: int | None = None
    boot: str = ""
    namespace: str = ""


def this_process() -> Process:
    """The one that asks."""
    return Process(pid=os.getpid(), ticks=_ticks(os.getpid()), boot=boot_id(), namespace=_namespace())


def process_of(pid: int) -> Process | None:
    """The process that has a number now; None where there is none, or it is another user's."""
    found = Process(pid=pid, ticks=_ticks(pid), boot=boot_id(), namespace=_namespace())
    return found if is_alive(found, os.geteuid()) else None


def is_alive(process: Process, user: int = ROOT) -> bool:
    """Whether it lives and is the user's; root answers for everybody's.

    Of a container's process the host can tell. Another container cannot: there it counts as alive until the next boot.
    """
    if process.boot != boot_id():
        return False
    if process.namespace != _namespace():
        return _containers.may_live(process.pid, process.ticks, user)
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    state = _state(process.pid)
    if state is not None and (state[0] == "Z" or process.ticks not in (None, state[1])):
        return False
    return user == ROOT or _user(process.pid) in (None, user)


def _ticks(pid: int) -> int | None:
    state = _state(pid)
    return state[1] if state else None


def _state(pid: int) -> tuple[str, int] | None:
    """(state, ticks at its start); None where /proc hides it (hidepid) or is not there."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode("ascii", "replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return fields[0], int(fields[19])


def _user(pid: int) -> int | None:
    """Whose a process is; None where /proc does not tell."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Uid:")), None)


def boot_id() -> str:
    """Names this boot of the machine; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
