"""Looks at what running jobs use, now and then, and keeps it in their folders."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from ...devices.processes import numbered_by_host
from ...domain.devices import Device, Inventory
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...domain.jobs.statistics import DevicePoint, StatisticsPoint, StatisticsSummary
from ...engines.base import Engine, JobFolder
from ...engines.capabilities import OwnDevices
from ...engines.usage import Measuring, Usage
from ..folder.statistics import History
from ..settings import JobSettings

_logger = logging.getLogger(__name__)

INVENTORY_SECONDS = 0.4
"""So long one look at the devices serves the samples of several jobs."""
FULL_PACE_JOBS = 8
"""With more running jobs than this each is looked at less often, so that looking never costs more."""
LAST_SAMPLE_SECONDS = 2.0
"""How long the end of a job waits for a sample that is being taken."""


class _Under(NamedTuple):
    """A sample that was begun: when, on the monotonic clock, and by which thread."""

    at: float
    thread: threading.Thread


class Sampling:
    """Belongs to whoever looks after the queue, so that of several servers one samples. Remembers nothing that a
    successor would miss: what was seen is in the folder, and a gap stays a gap."""

    def __init__(self, settings: JobSettings, inventory: Callable[[], Inventory] | None) -> None:
        self._settings, self._inventory = settings, inventory
        self._begun: dict[str, _Under] = {}
        self._seen: Inventory | None = None
        self._looking = threading.Lock()
        self._host_numbers = numbered_by_host()

    def look(self, job: Job, engine: Engine, folder: JobFolder) -> None:
        """Take a sample where one is due, in a thread of its own: a daemon may take a second for an answer, and
        whoever looks after this job has others."""
        if not self._settings.statistics_seconds or not isinstance(engine, Measuring):
            return
        now, last = time.monotonic(), self._begun.get(job.id)
        age = max(0.0, time.time() - (job.started or time.time()))
        wait = self._settings.statistics_after(age) * self._stretch()
        if last is not None and (last.thread.is_alive() or now - last.at < wait):
            return
        thread = threading.Thread(
            target=self._sample, args=(job, engine, folder), name=f"statistics {job.id}", daemon=True
        )
        thread.start()
        self._begun[job.id] = _Under(now, thread)

    def _stretch(self) -> float:
        return max(1.0, len(self._begun) / FULL_PACE_JOBS)

    def finish(self, job: Job, folder: JobFolder) -> StatisticsSummary | None:
        """The job has ended: the summary of all that was seen of it, None where nothing was."""
        last = self._begun.pop(job.id, None)
        if last is not None:
            last.thread.join(LAST_SAMPLE_SECONDS)
        summary = History(folder, self._settings.statistics_points).statistics().summary
        return summary if summary.samples else None

    def _sample(self, job: Job, engine: Measuring, folder: JobFolder) -> None:
        try:
            usage = engine.usage(job, folder)
            if usage is None:
                return
            devices = self._devices(engine, job.device_ids)
            history = History(folder, self._settings.statistics_points)
            kept = history.read()
            history.add(self._point(job, usage, devices, kept[-1] if kept else None), kept)
        except (PaddleGpuError, OSError):
            pass  # the job may have ended meanwhile, the daemon be away, the disk be full: then there is a gap
        except Exception:
            _logger.exception("statistics of job %s", job.id)

    def _devices(self, engine: Measuring, wanted: tuple[str, ...]) -> list[Device]:
        if not wanted:
            return []
        devices = engine.inventory().devices if isinstance(engine, OwnDevices) else self._here()
        return [device for device in devices if device.id in wanted and not device.simulated]

    def _here(self) -> tuple[Device, ...]:
        if self._inventory is None:
            return ()
        with self._looking:
            if self._seen is None or not 0 <= time.time() - self._seen.time < INVENTORY_SECONDS:
                self._seen = self._inventory()
            return self._seen.devices

    def _point(self, job: Job, usage: Usage, devices: list[Device], before: StatisticsPoint | None) -> StatisticsPoint:
        now = time.time()
        since = before.time if before else job.started or now
        used = None
        if usage.cpu_seconds is not None:
            used = usage.cpu_seconds - ((before.cpu_seconds if before else None) or 0.0)
        passed = now - since
        return StatisticsPoint(
            time=round(now, 3),
            # Twice the longest wait may pass on a busy machine; what is longer, nobody watched.
            seconds=round(min(max(0.0, passed), 2 * self._settings.statistics_seconds * self._stretch()), 3),
            cpu_percent=round(100 * used / passed, 1) if used is not None and used >= 0 and passed > 0 else None,
            cpu_seconds=usage.cpu_seconds,
            memory_bytes=usage.memory_bytes,
            memory_limit_bytes=usage.memory_limit_bytes,
            processes=usage.processes,
            read_bytes=usage.read_bytes,
            written_bytes=usage.written_bytes,
            received_bytes=usage.received_bytes,
            sent_bytes=usage.sent_bytes,
            devices=tuple(self._device(device, usage) for device in devices),
        )

    def _device(self, device: Device, usage: Usage) -> DevicePoint:
        own = [process for process in device.processes if process.pid in usage.pids]
        if usage.pids_of == "own" and not self._host_numbers and len(own) != len(device.processes):
            own = []  # in a container the driver's number may by chance be that of another process of ours
        memory = [process.memory_bytes for process in own if process.memory_bytes is not None]
        shares = [process.utilization for process in own if process.utilization is not None]
        return DevicePoint(
            id=device.id,
            memory_bytes=sum(memory) if memory else None,
            utilization_percent=device.utilization,
            process_utilization_percent=float(min(100, sum(shares))) if shares else None,
            device_memory_bytes=device.memory_used,
            temperature_celsius=device.temperature,
            power_watts=device.power,
            processes=len(own),
            samples=1 if memory else 0,
        )
