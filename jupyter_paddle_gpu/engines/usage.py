"""What a job's processes use now. An engine that can tell implements `Measuring`; the rest is the same for all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec
import psutil

from ..domain.jobs.job import Job
from .base import JobFolder


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """One moment. Sizes in bytes; totals since the job's start. None: the engine cannot tell.

    Attributes:
        memory_bytes: resident memory of all processes, shared pages once.
        pids: the processes, where somebody asked for them, as a driver would number them.
        pids_of: whose numbers these are: `host`, or `own` for those that this process sees (in a container, others).
    """

    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    processes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    pids: frozenset[int] = frozenset()
    pids_of: Literal["own", "host"] = "own"


@runtime_checkable
class Measuring(Protocol):
    """An engine that sees what its jobs use."""

    def usage(self, job: Job, folder: JobFolder) -> Usage | None:
        """What the job uses now; None where it does not run. May block on a daemon; raises `PaddleGpuError`."""
        ...


def of_tree(pid: int, *, memory_limit: int | None = None) -> Usage | None:
    """The process `pid` with all below it; None where it is gone.

    Times and bytes of children that ended are in their parents' totals. Where several processes share pages (workers
    of a `DataLoader`), each page counts once (proportional set size); the network is not told by process.
    """
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return None
    shared = len(processes) > 2  # the runner and the notebook share next to nothing
    rows = [row for process in processes if (row := _of_process(process, shared=shared)) is not None]
    if not rows:
        return None
    return Usage(
        cpu_seconds=round(sum(row["cpu_seconds"] for row in rows), 3),
        memory_bytes=sum(row["memory_bytes"] for row in rows),
        memory_limit_bytes=memory_limit,
        processes=len(rows),
        read_bytes=_sum(row.get("read_bytes") for row in rows),
        written_bytes=_sum(row.get("written_bytes") for row in rows),
        pids=frozenset(process.pid for process in processes),
    )


def _of_process(process: psutil.Process, *, shared: bool) -> dict[str, Any] | None:
    try:
        with process.oneshot():
            times = process.cpu_times()
            own = times.user + times.system
            row = {
                # Some systems do not tell of children that ended.
                "cpu_seconds": own + getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0),
                "memory_bytes": process.memory_info().rss,
            }
            with contextlib.suppress(psutil.AccessDenied, AttributeError):
                transfers = process.io_counters()
                row |= {"read_bytes": transfers.read_bytes, "written_bytes": transfers.write_bytes}
            if shared:
                with contextlib.suppress(psutil.AccessDenied, AttributeError):
                    row["memory_bytes"] = process.memory_full_info().pss
            return row
    except (psutil.Error, OSError):  # ended meanwhile, or a zombie
        return None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
