"""The machine itself, or the share of it that a container leaves."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import psutil

from ..domain.devices import HostSample
from .cgroups import read_share

FIRST_CPU_INTERVAL = 0.05
"""Seconds over which the first load figure is taken; later ones cover the time since the one before."""


class HostReader:
    """Samples processors, memory and the disk that holds `data_folder`."""

    def __init__(self, data_folder: Path | None = None, root: Path = Path("/")) -> None:
        self._data_folder = data_folder
        self._root = root
        self._measured = False
        self._used: tuple[float, float] | None = None

    def read(self, *, load: bool = True) -> HostSample:
        """The host now.

        Args:
            load: whether somebody wants to know how busy the processors are, for which the first reading has to wait.
        """
        share = read_share(self._root)
        memory = psutil.virtual_memory()
        total, available = int(memory.total), int(memory.available)
        if share.memory_limit is not None and share.memory_limit < total:
            total = share.memory_limit
        if share.memory_limit is not None and share.memory_used is not None:
            available = min(available, max(0, share.memory_limit - share.memory_used))
        percent = psutil.cpu_percent(FIRST_CPU_INTERVAL if load and not self._measured else None)
        self._measured = self._measured or load
        if share.cpus is not None and share.cpu_seconds is not None:
            percent = self._share_percent(share.cpus, share.cpu_seconds, percent)
        return HostSample(
            cpu_count=_processors(share.cpus),
            cpu_percent=float(percent),
            memory_total=total,
            memory_available=available,
            disk_free=self._disk(),
        )

    def _share_percent(self, cpus: float, used: float, whole: float) -> float:
        """Load of the granted share; the first time, when there is nothing to compare with, the whole machine's."""
        now, before = time.monotonic(), self._used
        self._used = (now, used)
        if before is None or now <= before[0]:
            return whole
        return max(0.0, min(100.0, 100 * (used - before[1]) / (now - before[0]) / cpus))

    def _disk(self) -> int | None:
        """Free bytes for this user where jobs are kept; the folder itself may not exist yet."""
        if self._data_folder is None:
            return None
        existing = next((f for f in (self._data_folder, *self._data_folder.parents) if f.exists()), None)
        return int(psutil.disk_usage(str(existing)).free) if existing is not None else None


def _processors(quota: float | None) -> int:
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        count = os.cpu_count() or 1
    return max(1, min(count, math.ceil(quota))) if quota else count
