"""What a running job really uses: points over time, and their sum. Rules alone, no I/O.

A point stands for one sample or, once a job runs long, for many: means stay means and peaks stay peaks however often
points are merged, so that the summary of a thinned history is that of the whole one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

T = TypeVar("T")
N = TypeVar("N", int, float)


class DevicePoint(msgspec.Struct, frozen=True, kw_only=True):
    """One device of a job. None: the driver does not tell.

    Attributes:
        memory_bytes: what the driver counts for the job's own processes, context included; the largest since the point
            before.
        utilization_percent: share of the time in which a kernel of anybody ran on the device, mean.
        process_utilization_percent: the same for the job's own processes.
        device_memory_bytes: in use by everybody, the largest.
        temperature_celsius: the highest; `power_watts`: the mean. Both belong to the whole device.
        processes: how many of the job's processes were on it, the most.
        samples: how many of the point's samples told `memory_bytes`.
    """

    id: str
    memory_bytes: int | None = None
    utilization_percent: float | None = None
    process_utilization_percent: float | None = None
    device_memory_bytes: int | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    processes: int = 0
    samples: int = 0


class StatisticsPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What a job used up to a moment. None: the engine does not tell.

    Attributes:
        time: of the newest sample in it, seconds since the epoch.
        seconds: the time it stands for; what nobody watched (a server that was away) is left out.
        samples: how many samples it holds.
        cpu_percent: mean, 100 for one processor kept busy; `cpu_seconds`: total since the job's start.
        memory_bytes: host memory of all its processes, the largest; `memory_limit_bytes`: what it may take.
        processes: how many there were, the most.
        read_bytes, written_bytes, received_bytes, sent_bytes: disks and network, totals since the job's start.
    """

    time: float
    seconds: float = 0.0
    samples: int = 1
    cpu_percent: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    processes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    devices: tuple[DevicePoint, ...] = ()


class DeviceSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One device over the whole job: peaks, and means over the time that was watched.

    Attributes:
        memory_peak_bytes: the driver's figure for the job's own processes; `processes_peak`: how many they were.
        memory_samples: in how many samples the driver told it; `peak_samples`: in how many it was at its peak.
    """

    id: str
    memory_peak_bytes: int | None = None
    processes_peak: int = 0
    memory_samples: int = 0
    peak_samples: int = 0
    device_memory_peak_bytes: int | None = None
    utilization_mean_percent: float | None = None
    process_utilization_mean_percent: float | None = None
    temperature_peak_celsius: float | None = None
    power_mean_watts: float | None = None


class StatisticsSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job over its whole time, as far as it was watched (`seconds`, `samples`)."""

    seconds: float = 0.0
    samples: int = 0
    cpu_mean_percent: float | None = None
    cpu_peak_percent: float | None = None
    cpu_seconds: float | None = None
    memory_peak_bytes: int | None = None
    processes_peak: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    devices: tuple[DeviceSummary, ...] = ()


class JobStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """All that is kept: points, oldest first, and their summary."""

    points: tuple[StatisticsPoint, ...] = ()
    summary: StatisticsSummary = StatisticsSummary()


AT_PEAK = 0.98
"""From this share of its peak on a process is counted as being at it: drivers round, allocators trim."""
_INSTANT = 1e-6
"""Weight of a point that stands for no time yet: it decides a mean only where there is nothing else."""


def merged(points: Sequence[StatisticsPoint]) -> StatisticsPoint:
    """One point in place of several neighbours (at least one), oldest first."""
    last = points[-1]
    ids = dict.fromkeys(device.id for point in points for device in point.devices)
    return StatisticsPoint(
        time=last.time,
        seconds=sum(point.seconds for point in points),
        samples=sum(point.samples for point in points),
        cpu_percent=_mean((point.cpu_percent, point.seconds) for point in points),
        cpu_seconds=_newest(point.cpu_seconds for point in points),
        memory_bytes=_most(point.memory_bytes for point in points),
        memory_limit_bytes=_newest(point.memory_limit_bytes for point in points),
        processes=_most(point.processes for point in points),
        read_bytes=_newest(point.read_bytes for point in points),
        written_bytes=_newest(point.written_bytes for point in points),
        received_bytes=_newest(point.received_bytes for point in points),
        sent_bytes=_newest(point.sent_bytes for point in points),
        devices=tuple(_merged_device(name, points) for name in ids),
    )


def _merged_device(name: str, points: Sequence[StatisticsPoint]) -> DevicePoint:
    seen = [(device, point.seconds) for point in points for device in point.devices if device.id == name]
    return DevicePoint(
        id=name,
        memory_bytes=_most(device.memory_bytes for device, _ in seen),
        utilization_percent=_mean((device.utilization_percent, seconds) for device, seconds in seen),
        process_utilization_percent=_mean((device.process_utilization_percent, seconds) for device, seconds in seen),
        device_memory_bytes=_most(device.device_memory_bytes for device, _ in seen),
        temperature_celsius=_most(device.temperature_celsius for device, _ in seen),
        power_watts=_mean((device.power_watts, seconds) for device, seconds in seen),
        processes=max((device.processes for device, _ in seen), default=0),
        samples=sum(device.samples for device, _ in seen),
    )


def thinned(points: Sequence[StatisticsPoint], most: int) -> list[StatisticsPoint]:
    """At most `most` points of comparable length (seconds) in place of many: none longer than three times the whole
    time divided by `most`, but for what was so before."""
    length = sum(point.seconds for point in points) / most
    while len(groups := _groups(points, length)) > most:
        length *= 1.2
    return [merged(group) for group in groups]


def _groups(points: Sequence[StatisticsPoint], length: float) -> list[list[StatisticsPoint]]:
    """Neighbours together up to `length` seconds. Two adjacent groups are longer than that: so few they are."""
    groups: list[list[StatisticsPoint]] = []
    seconds = 0.0
    for point in points:
        if not groups or seconds + point.seconds > length:
            groups.append([])
            seconds = 0.0
        groups[-1].append(point)
        seconds += point.seconds
    return groups


def summarize(points: Sequence[StatisticsPoint]) -> StatisticsSummary:
    """The whole job in one row."""
    if not points:
        return StatisticsSummary()
    total = merged(points)
    return StatisticsSummary(
        seconds=round(total.seconds, 3),
        samples=total.samples,
        cpu_mean_percent=total.cpu_percent,
        cpu_peak_percent=_most(point.cpu_percent for point in points),
        cpu_seconds=total.cpu_seconds,
        memory_peak_bytes=total.memory_bytes,
        processes_peak=total.processes,
        read_bytes=total.read_bytes,
        written_bytes=total.written_bytes,
        received_bytes=total.received_bytes,
        sent_bytes=total.sent_bytes,
        devices=tuple(_device_summary(device, points) for device in total.devices),
    )


def _device_summary(total: DevicePoint, points: Sequence[StatisticsPoint]) -> DeviceSummary:
    peak = total.memory_bytes
    at_peak = (
        device.samples
        for point in points
        for device in point.devices
        if device.id == total.id and peak is not None and (device.memory_bytes or 0) >= AT_PEAK * peak
    )
    return DeviceSummary(
        id=total.id,
        memory_peak_bytes=peak,
        processes_peak=total.processes,
        memory_samples=total.samples,
        peak_samples=sum(at_peak),
        device_memory_peak_bytes=total.device_memory_bytes,
        utilization_mean_percent=total.utilization_percent,
        process_utilization_mean_percent=total.process_utilization_percent,
        temperature_peak_celsius=total.temperature_celsius,
        power_mean_watts=total.power_watts,
    )


def _mean(values: Iterable[tuple[float | None, float]]) -> float | None:
    known = [(value, max(seconds, _INSTANT)) for value, seconds in values if value is not None]
    if not known:
        return None
    return round(sum(value * seconds for value, seconds in known) / sum(seconds for _, seconds in known), 3)


def _most(values: Iterable[N | None]) -> N | None:
    return max((value for value in values if value is not None), default=None)


def _newest(values: Iterable[T | None]) -> T | None:
    return next((value for value in reversed(list(values)) if value is not None), None)
