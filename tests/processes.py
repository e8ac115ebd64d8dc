"""Processes that tests start, and those that are still there when they should have ended.

A dispatcher, a job's runner and a kernel are sessions of their own, so that they outlive who started them. They have
its environment, though, and by a mark in it they are found.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import psutil

from jupyter_paddle_gpu.estimator.zygote.forks import READY

NO_WORK = "estimator-"
SESSION = "PADDLE_GPU_TEST_SESSION"
"""The mark of all that one process of tests starts; its value is that process's number."""


def marked(name: str, value: str) -> Iterator[psutil.Process]:
    """Processes, but this one and the dead, that were started with this variable in their environment."""
    wanted = f"{name}={value}".encode()
    for number in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if number != os.getpid() and wanted in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                process = psutil.Process(number)
                if process.status() != psutil.STATUS_ZOMBIE:
                    yield process


def at_work(zygote: psutil.Process) -> list[psutil.Process]:
    """The children of an estimator's worker that work at a request: one stands ready for the next, one may be there
    while it gets ready, and the dead are reaped in a moment."""
    found = []
    for child in zygote.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() != psutil.STATUS_ZOMBIE and not child.name().startswith(NO_WORK):
                found.append(child)
    return found


def standing_ready(zygote: psutil.Process) -> list[psutil.Process]:
    """Those that stand ready for the next request: one at most."""
    return [child for child in zygote.children() if child.name() == READY.decode()]


def end(name: str, value: str) -> list[str]:
    """End all that have the mark, and what they start meanwhile; returns their command lines.

    Python's own tracker of shared memory is of the process of tests itself and ends with it: no test left it running.
    """
    own = getattr(getattr(resource_tracker, "_resource_tracker", None), "_pid", None)
    ended: dict[int, str] = {}
    while found := [*marked(name, value)]:
        for process in found:
            with contextlib.suppress(psutil.Error):
                ended.setdefault(process.pid, " ".join(process.cmdline()))
                process.kill()
        psutil.wait_procs(found, 10)
    return [line for number, line in ended.items() if number != own]
