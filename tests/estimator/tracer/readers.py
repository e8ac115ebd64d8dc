"""How long a measured step waits for the thread and the processes that read its data. Standard library alone."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

LEAST_SECONDS = 0.03
"""A reader that was just woken up has begun by then."""
QUIET_SECONDS = 0.01
"""So long nobody else may have run: whoever has something to do runs, or stands in the queue for a processor."""
MOST_SECONDS = 10.0
"""For threads that never rest."""


def settle() -> None:
    """Wait until nobody else in this process or its children has anything to do: a reader holds all it may hold then.

    A step that is quicker than its reader, as on a busy machine, has fewer batches beside it. Source of the times: the
    kernel's scheduler, /proc/<pid>/task/<tid>/schedstat; where there is none it is a short wait.
    """
    time.sleep(LEAST_SECONDS)
    end, before = time.monotonic() + MOST_SECONDS, _others()
    while before and time.monotonic() < end:
        time.sleep(QUIET_SECONDS)
        now = _others()
        if now == before and "R" not in {state for state, _ in now.values()}:
            return
        before = now


def _others() -> dict[str, tuple[str, str]]:
    """State and time on a processor of every thread but the caller's, here and in the children."""
    own = Path("/proc/thread-self")
    if not own.exists():
        return {}
    mine, found, processes = own.resolve().name, {}, [Path("/proc/self").resolve()]
    for process in processes:
        for task in process.glob("task/*"):
            with contextlib.suppress(OSError):  # it has ended
                processes += [Path("/proc") / child for child in (task / "children").read_text().split()]
                if task.name != mine:
                    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                    found[task.name] = state, (task / "schedstat").read_text().split()[0]
    return found
