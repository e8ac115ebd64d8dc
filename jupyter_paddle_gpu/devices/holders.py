"""Which job stands behind a device, and behind a process on it: what others know of jobs, put into an inventory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import psutil

from ..domain.devices import Device, DeviceProcess, Holders, shares_of, whole_of


class Held(NamedTuple):
    """What is known of the jobs at work.

    Attributes:
        holders: who has which device.
        containers: identity of a container (twelve digits) -> the job that runs in it.
        processes: a process of this machine -> the job of which it, and all below it, is.
    """

    holders: Holders
    containers: Mapping[str, str]
    processes: Mapping[int, str]


def nobody() -> Held:
    """Where nobody knows of jobs."""
    return Held({}, {}, {})


def with_holders(device: Device, held: Held, *, on_host: bool) -> Device:
    """A device with the jobs that have it, and those that its processes are of.

    Args:
        on_host: whether the driver numbers processes as we see them.
    """
    holders = {device.id: held.holders.get(device.id, ())}
    processes = tuple(_with_job(process, held, on_host=on_host) for process in device.processes)
    return msgspec.structs.replace(
        device,
        holder=whole_of(holders).get(device.id),
        sharers=shares_of(holders).get(device.id, ()),
        processes=processes,
    )


def _with_job(process: DeviceProcess, held: Held, *, on_host: bool) -> DeviceProcess:
    if process.job_id is not None or not (held.containers or held.processes):
        return process
    job = held.containers.get(process.container or "")
    if job is None and on_host and held.processes:
        job = _job_above(process.pid, held.processes)
    return process if job is None else msgspec.structs.replace(process, job_id=job)


def _job_above(pid: int, jobs: Mapping[int, str]) -> str | None:
    """The job of the nearest of these processes that a process is below of, or is."""
    seen: set[int] = set()
    while pid > 0 and pid not in seen:
        if pid in jobs:
            return jobs[pid]
        seen.add(pid)
        try:
            pid = psutil.Process(pid).ppid()
        except (psutil.Error, OSError):
            return None
    return None
