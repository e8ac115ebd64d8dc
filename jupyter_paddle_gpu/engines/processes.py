"""Is the runner that wrote `runner.json` still there, and what belongs to it? Pids come again: never by pid alone."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from pathlib import Path

import msgspec
import psutil

from ..domain.decoding import decode
from . import own_files


class Identity(msgspec.Struct, frozen=True):
    """What a runner wrote about itself. `started_ticks` (since boot) and `boot_id` are None without /proc."""

    pid: int
    time: float
    host: str = ""
    started_ticks: int | None = None
    boot_id: str | None = None


def read_identity(path: Path) -> Identity | None:
    """The identity in a job folder; None where no runner got so far."""
    try:
        return decode(own_files.read(path), Identity)
    except (OSError, msgspec.DecodeError):
        return None


def is_alive(identity: Identity) -> bool:
    """Whether that very process runs on this machine; a zombie does not."""
    if identity.host != socket.gethostname():
        return False
    try:
        process = psutil.Process(identity.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if identity.started_ticks is None:
            # macOS: the runner wrote the time at its start; a process that started later is another one.
            return process.create_time() <= identity.time + 1
    except psutil.Error:
        return False
    return identity.boot_id == _boot_id() and identity.started_ticks == _started_ticks(identity.pid)


def is_elsewhere(identity: Identity) -> bool:
    """Whether the runner belongs to another machine (a home folder shared by several)."""
    return identity.host != socket.gethostname()


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def _started_ticks(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode("ascii", "replace")
    except OSError:
        return None
    return int(text[text.rindex(")") + 2 :].split()[19])


def seconds_since_start(pid: int) -> float | None:
    """How long a process of this machine has run, by the clock that counts from the boot; None where nobody can say."""
    ticks = _started_ticks(pid)
    if ticks is None or not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


def processes_of(job_id: str) -> list[psutil.Process]:
    """Every process of this user that carries the job's id in its environment: also those that left its session."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("PADDLE_GPU_JOB_ID") == job_id and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def kill_all(identity: Identity | None, job_id: str) -> None:
    """SIGKILL to the runner (whose child dies with it) and to whatever of the job is left."""
    if identity is not None and is_alive(identity):
        with contextlib.suppress(psutil.Error):
            psutil.Process(identity.pid).kill()
    for process in processes_of(job_id):
        with contextlib.suppress(psutil.Error):
            process.kill()


def supported() -> bool:
    """Whether the runner's way of working (pipes, signals, sessions) exists here."""
    return sys.platform != "win32"
