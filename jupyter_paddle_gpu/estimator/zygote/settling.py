"""How long a measured step waits for the thread and the processes that read its data. Standard library alone."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

LEAST_SECONDS = 0.03
"""A reader that was just woken up has begun by then."""
QUIET_SECONDS, LITTLE = 0.01, 1_000_000
"""So long nobody else may have run for more than so little (ns), what watches something and wakes up now and then:
whoever has something to do runs, or stands in the queue for a processor."""
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
        ran = [used - before[name][1] if name in before else used for name, (_, used) in now.items()]
        if max(ran, default=0) < LITTLE and "R" not in {state for state, _ in now.values()}:
            return
        before = now


def _others() -> dict[str, tuple[str, int]]:
    """State and time on a processor (ns) of every thread but the caller's, here and in the children."""
    own = Path("/proc/thread-self")
    if not own.exists():
        return {}
    mine, found, processes = own.resolve().name, dict[str, tuple[str, int]](), [Path("/proc/self").resolve()]
    for process in processes:
        for task in process.glob("task/*"):
            with contextlib.suppress(OSError):  # it has ended
                processes += [Path("/proc") / child for child in (task / "children").read_text().split()]
                if task.name != mine:
                    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                    found[task.name] = state, int((task / "schedstat").read_text().split()[0])
    return found
