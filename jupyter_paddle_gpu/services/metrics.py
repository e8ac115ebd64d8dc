"""Figures of devices, jobs and estimates for Prometheus: on Jupyter Server's own `/metrics`, or from a small server of
their own.

Names follow Prometheus' conventions (base units, ratios, `_total`), labels of devices those of NVIDIA's DCGM exporter
(`gpu`, `UUID`, `modelName`, `Hostname`), so that dashboards can be joined.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ..claims.boards import Posted
from ..devices.service import DeviceService
from ..domain.devices import Device, Inventory
from ..domain.jobs.job import Job
from ..version import __version__

LOOKED_SECONDS = 120.0
"""For so long after a scrape the devices are sampled: longer than most intervals, so that each finds a sample."""
JOBS_SECONDS = 5.0
"""Between two readings of the store of jobs while somebody scrapes."""
WAITS = (1, 5, 15, 60, 300, 900, 3600, 14400, 86400)
"""Buckets of the seconds that a job waited."""
ERRORS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Buckets of an estimate's error, as a share of what was measured."""
LABELS = ("gpu", "UUID", "modelName", "vendor", "Hostname")

Gauge = tuple[str, str, Callable[[Device], float | None]]


def _share(part: float | None, scale: float) -> float | None:
    return None if part is None else part / scale


_GAUGES: tuple[Gauge, ...] = (
    ("memory_total_bytes", "Memory of the device.", lambda device: device.memory_total),
    ("memory_used_bytes", "Memory in use.", lambda device: device.memory_used),
    ("memory_free_bytes", "Memory that is free.", lambda device: device.memory_free),
    ("utilization_ratio", "Share of the time in which a kernel ran.", lambda device: _share(device.utilization, 100)),
    ("temperature_celsius", "Its heat.", lambda device: device.temperature),
    ("power_watts", "Power it takes.", lambda device: device.power),
    ("power_limit_watts", "Most power it may take.", lambda device: device.power_limit),
    ("processes", "Processes that hold memory of it.", lambda device: len(device.processes)),
    (
        "clock_hertz",
        "Clock of the multiprocessors.",
        lambda device: _share(device.details.clock if device.details else None, 1e-6),
    ),
    (
        "ecc_uncorrected_errors",
        "Memory errors since the driver was loaded that were not corrected.",
        lambda device: device.details.ecc_uncorrected if device.details else None,
    ),
    ("healthy", "1: it answers and has had no fault of its hardware.", lambda device: float(_is_healthy(device))),
)


def _is_healthy(device: Device) -> bool:
    return device.problem is None and device.fault is None


class Metrics(Collector):
    """Collects what was seen last; a scrape never waits for a driver or the store.

    Args:
        jobs: all jobs of the store; may block, called from the sampling thread.
        boards: what the stores of this machine's users tell of their queues; likewise.
    """

    def __init__(
        self,
        devices: DeviceService,
        jobs: Callable[[], Iterable[Job]],
        boards: Callable[[], Sequence[Posted]] = tuple,
        *,
        looked_seconds: float = LOOKED_SECONDS,
    ) -> None:
        self._devices, self._jobs, self._boards = devices, jobs, boards
        self._looked_seconds = looked_seconds
        self._lock = threading.Lock()
        self._seen: tuple[Metric, ...] = ()
        self._of_jobs: tuple[Metric, ...] = ()
        self._counted: set[str] = set()
        self._placements = Counter[tuple[str, str]]()
        self._rows_at = self._looked_at = float("-inf")
        self._leave: Callable[[], None] | None = None

    def collect(self) -> Iterator[Metric]:
        """What is known now; from now on the devices are sampled for a while."""
        self._look()
        yield from self._families()

    def describe(self) -> tuple[Metric, ...]:
        """Nothing: a registry that asks when it is told of us is no look at the devices."""
        return ()

    def text(self) -> bytes:
        """Everything as it is now, read for this answer; blocks."""
        self._see(self._devices.snapshot(load=True))
        registry = CollectorRegistry()
        registry.register(_Once(self._families))
        return bytes(generate_latest(registry))

    def serve(self, port: int, address: str) -> Callable[[], None]:
        """Answer scrapes by a small HTTP server in threads of its own; returns what ends it."""
        registry = CollectorRegistry()
        registry.register(self)
        server, thread = start_http_server(port, address, registry)

        def end() -> None:
            server.shutdown()
            thread.join()
            self.close()

        return end

    def close(self) -> None:
        """Look no longer."""
        with self._lock:
            leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def _look(self) -> None:
        with self._lock:
            self._looked_at = time.monotonic()
            if self._leave is None:
                self._leave = self._devices.subscribe(self._see)

    def _see(self, inventory: Inventory) -> None:
        now = time.monotonic()
        if now - self._rows_at >= JOBS_SECONDS:
            rows, self._rows_at = tuple(self._jobs()), now
            self._count(rows)
            queues = _of_queues(self._boards())
            self._of_jobs = (*_of_jobs(rows, inventory.time), *queues, _of_placements(self._placements))
        # Here, not where the server's event loop waits for it.
        self._seen = (*_of_sample(inventory), *self._of_jobs)
        if self._leave is not None and now - self._looked_at > self._looked_seconds:
            self.close()

    def _count(self, rows: Iterable[Job]) -> None:
        # A counter never goes back: a job that is deleted was placed all the same.
        for job in rows:
            if job.id not in self._counted and job.spec.placed is not None:
                self._counted.add(job.id)
                self._placements[job.spec.placed.outcome, job.spec.placed.reason] += 1

    def _families(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("paddle_gpu_info", "This release.", labels=["version"])
        info.add_metric([__version__], 1)
        yield info
        yield from self._seen


class _Once(Collector):
    """Families as they are."""

    def __init__(self, families: Callable[[], Iterator[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """All of them."""
        return self._families()


def _of_sample(inventory: Inventory) -> Iterator[Metric]:
    yield GaugeMetricFamily("paddle_gpu_sample_timestamp_seconds", "When this was seen.", inventory.time)
    yield from _of_devices([device for device in inventory.devices if not device.simulated])


def _labels(device: Device) -> list[str]:
    return [str(device.index), device.id, device.name, device.vendor, platform.node()]


def _of_devices(devices: Sequence[Device]) -> Iterator[Metric]:
    for name, text, figure in _GAUGES:
        family = GaugeMetricFamily(f"paddle_gpu_device_{name}", text, labels=LABELS)
        for device in devices:
            if (value := figure(device)) is not None:
                family.add_metric(_labels(device), value)
        yield family
    slowed = GaugeMetricFamily(
        "paddle_gpu_device_throttled",
        "1 for each reason why its clocks are not at their highest.",
        labels=[*LABELS, "reason"],
    )
    for device in devices:
        for reason in (device.details.throttling if device.details else None) or ():
            slowed.add_metric([*_labels(device), reason], 1)
    yield slowed
    held = GaugeMetricFamily(
        "paddle_gpu_device_held_ratio",
        "Share of its memory that the jobs of a user have; 1: the whole device.",
        labels=[*LABELS, "user"],
    )
    for device in devices:
        for user, share in sorted(_shares(device).items()):
            held.add_metric([*_labels(device), user], share)
    yield held


def _shares(device: Device) -> dict[str, float]:
    """User -> share of the device. Containers that somebody started by hand are nobody's."""
    found = defaultdict[str, float](float)
    for holder in (device.holder, *device.sharers):
        if holder is not None and holder.owner:
            total = device.memory_total
            found[holder.owner] += 1.0 if holder.bytes is None or not total else holder.bytes / total
    return found


def _of_jobs(rows: Sequence[Job], now: float) -> Iterator[Metric]:
    states = GaugeMetricFamily("paddle_gpu_jobs", "Jobs by state and user.", labels=["state", "user"])
    for (state, user), count in sorted(Counter((job.state, job.owner) for job in rows).items()):
        states.add_metric([state, user], count)
    yield states
    waits = HistogramMetricFamily(
        "paddle_gpu_queue_wait_seconds",
        "How long jobs waited until they started, or have waited by now (state queued), by user and state.",
        labels=["user", "state"],
    )
    waited: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for job in rows:
        if job.started is not None:
            waited[job.owner, job.state].append(job.started - job.created)
        elif job.state == "queued":
            waited[job.owner, job.state].append(max(0.0, now - job.created))
    for key, values in sorted(waited.items()):
        waits.add_metric(list(key), _buckets(WAITS, values), float(sum(values)))
    yield waits
    errors = [error for job in rows if (error := estimate_error(job)) is not None]
    yield HistogramMetricFamily(
        "paddle_gpu_estimate_error_ratio",
        "Estimated peak against the measured one, as a share of the latter.",
        buckets=_buckets(ERRORS, errors),
        sum_value=float(sum(errors)),
    )


def _of_queues(boards: Sequence[Posted]) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        "paddle_gpu_waiting_jobs",
        "Jobs in the queue that all users of the machine share, by user.",
        labels=["user", "Hostname"],
    )
    used = GaugeMetricFamily(
        "paddle_gpu_fair_use_device_seconds",
        "What a user's jobs have had of devices, halved each day, by which the queue is fair.",
        labels=["user", "Hostname"],
    )
    counts, usage = Counter[str](), defaultdict[str, float](float)
    for one in boards:
        counts[one.user] += len(one.board.waiting)
        usage[one.user] += one.board.usage
    for user in sorted(counts):
        waiting.add_metric([user, platform.node()], counts[user])
        used.add_metric([user, platform.node()], usage[user])
    yield from (waiting, used)


def _of_placements(counted: Counter[tuple[str, str]]) -> Metric:
    family = CounterMetricFamily("paddle_gpu_placements", "Placements of submitted jobs.", labels=["outcome", "reason"])
    for key, count in sorted(counted.items()):
        family.add_metric(list(key), count)
    return family


def estimate_error(job: Job) -> float | None:
    """How far an ended job's estimate was from what it took: of its device as the driver saw it, else on the CPU of the
    step as the allocator did. None where one of both is not known."""
    if job.result is None:
        return None
    seen = job.result.statistics.devices if job.result.statistics is not None else ()
    peak = max((device.memory_peak_bytes or 0 for device in seen), default=0)
    if peak and job.spec.estimated_peak_bytes:
        return abs(job.spec.estimated_peak_bytes - peak) / peak
    step = job.result.step_allocated_bytes
    if step and job.spec.estimated_allocated_bytes and not job.device_ids:
        return abs(job.spec.estimated_allocated_bytes - step) / step
    return None


def _buckets(bounds: Sequence[float], values: Sequence[float]) -> list[tuple[str, float]]:
    buckets = [(str(float(bound)), float(sum(value <= bound for value in values))) for bound in bounds]
    return [*buckets, ("+Inf", float(len(values)))]
