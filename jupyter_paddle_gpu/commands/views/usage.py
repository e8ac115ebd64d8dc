"""What a job used, in one line."""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.jobs.statistics import DeviceSummary, StatisticsSummary
from ...domain.messages import Message
from ..speech import Speech, size

_NO_NAMES: Mapping[str, Message] = {}


def used(say: Speech, summary: StatisticsSummary, names: Mapping[str, Message] = _NO_NAMES) -> str:
    """Peaks and means over the job's time so far, of devices by their `names`; empty where nothing was seen of it."""
    parts = []
    if summary.memory_peak_bytes is not None:
        parts.append(say("memory up to {size}", size=size(summary.memory_peak_bytes)))
    if summary.cpu_mean_percent is not None:
        parts.append(say("CPU {percent} % on average", percent=f"{summary.cpu_mean_percent:.0f}"))
    return " · ".join(filter(None, (*parts, *(_device(say, device, names) for device in summary.devices))))


def driver_peak(summary: StatisticsSummary | None) -> int | None:
    """The most bytes that the driver counted for a job's processes on one of its devices."""
    return max((device.memory_peak_bytes or 0 for device in summary.devices), default=0) or None if summary else None


def _device(say: Speech, device: DeviceSummary, names: Mapping[str, Message]) -> str:
    """What it told of; empty where it told nothing, as a card does that is there for show."""
    busy = device.process_utilization_mean_percent
    if busy is None:
        busy = device.utilization_mean_percent
    named = names.get(device.id)
    name = device.id if named is None else named.render(say.translate)
    fields = {"device": name, "size": size(device.memory_peak_bytes)}
    if busy is None:
        return say("{device} up to {size}", **fields) if device.memory_peak_bytes is not None else ""
    fields["percent"] = f"{busy:.0f}"
    if device.memory_peak_bytes is None:
        return say("{device} busy for {percent} %", **fields)
    return say("{device} up to {size}, busy for {percent} %", **fields)
