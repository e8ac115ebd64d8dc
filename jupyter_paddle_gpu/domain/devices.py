"""Devices as they are now, and accelerators as their makers describe them. Memory in bytes throughout."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .messages import Message

Vendor = str
"""Name of a device maker (`devices.makers`); `cpu` for none."""


class DeviceProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that holds memory of a device; None where the driver or the permission does not tell.

    Attributes:
        utilization: share of the time since the look before in which a kernel of this process ran, 0 to 100.
        job_id: the job that it belongs to, where that may be read: of the reader's own processes.
    """

    pid: int
    memory_bytes: int | None = None
    utilization: int | None = None
    user: str | None = None
    command: str | None = None
    job_id: str | None = None


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator, or one slice of it, at one moment. None means: this device cannot tell.

    Attributes:
        id: the identity to claim and to hand to an engine (NVML UUID; `simulated-…` for a simulated one).
        index: the vendor's index on this machine.
        utilization: share of the last sample interval in which a kernel ran, 0 to 100.
        temperature: degrees Celsius; `power` and `power_limit` in watts.
        compute_capability: (major, minor), NVIDIA only.
        parent: id of the whole card where this is a slice of one (MIG).
        simulated: shown for teaching; nothing can run on it.
        checked: whether what is known of this maker's devices was seen on its hardware; else it is from documents.
        problem: why this one device gives no data.
        fault, fault_time: the driver's word (NVIDIA: `Xid 79`) and time (seconds since the epoch) of the newest error
            of the hardware's own that it reported while we looked.
    """

    id: str
    index: int
    vendor: Vendor
    name: str
    memory_total: int | None = None
    memory_used: int | None = None
    memory_free: int | None = None
    utilization: int | None = None
    temperature: int | None = None
    power: float | None = None
    power_limit: float | None = None
    compute_capability: tuple[int, int] | None = None
    numa_node: int | None = None
    parent: str | None = None
    simulated: bool = False
    checked: bool = True
    processes: tuple[DeviceProcess, ...] = ()
    problem: Message | None = None
    fault: str | None = None
    fault_time: float | None = None


class DeviceHolder(msgspec.Struct, frozen=True, kw_only=True):
    """Who has a device that is none of this store's to give: a job's id and its user, or a container's name and nobody,
    where somebody started it by hand."""

    job: str
    owner: str = ""


class HostSample(msgspec.Struct, frozen=True, kw_only=True):
    """The machine itself (or the container's share of it, where a cgroup limits it)."""

    cpu_count: int
    cpu_percent: float
    memory_total: int
    memory_available: int
    disk_free: int | None = None


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """A maker's driver on this machine.

    Attributes:
        version: the driver's own.
        runtime: the newest version of the maker's runtime (NVIDIA: CUDA) that it can carry; None: it does not say.
    """

    version: str
    runtime: str | None = None


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """All devices at one moment (`time` in seconds since the epoch) and the reasons for whatever is missing.

    Attributes:
        drivers: by maker; nothing of makers whose driver is not here or does not tell.
    """

    time: float
    host: HostSample
    devices: tuple[Device, ...] = ()
    drivers: dict[Vendor, Driver] = {}
    problems: tuple[Message, ...] = ()


class DeviceSeries(msgspec.Struct, frozen=True, kw_only=True):
    """One device over time, a column a figure; None where it did not tell.

    Attributes:
        times: seconds since the epoch, ascending. A span in which nobody looked has no points.
        utilization: 0 to 100. `memory_used` in bytes, `temperature` in degrees Celsius, `power` in watts.
    """

    id: str
    times: tuple[float, ...]
    utilization: tuple[float | None, ...]
    memory_used: tuple[float | None, ...]
    temperature: tuple[float | None, ...]
    power: tuple[float | None, ...]


class DeviceHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The last minutes of each device, from `since` until `until` (seconds since the epoch)."""

    since: float
    until: float
    devices: tuple[DeviceSeries, ...] = ()


def divided(devices: Iterable[Device]) -> frozenset[str]:
    """Ids of the devices that are divided into slices (MIG): a slice can be used, its card cannot."""
    return frozenset(device.parent for device in devices if device.parent)


class Accelerator(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the catalogue: what the maker's sheet says of a model of card. None means not known.

    Attributes:
        memory_bytes: nominal memory; `usable_bytes` what the driver reports as total, where that was seen.
        bandwidth: bytes a second. `fp16`, `bf16`, `fp32`: dense FLOP/s (multiply-add = 2).
        interconnect: bytes a second to a peer card, both directions together. `watts`: board power.
        domestic: made in China.
        source: where the figures stand.
    """

    name: str
    vendor: Vendor
    memory_bytes: int
    bandwidth: float | None = None
    fp16: float | None = None
    bf16: float | None = None
    fp32: float | None = None
    interconnect: float | None = None
    compute_capability: tuple[int, int] | None = None
    watts: float | None = None
    usable_bytes: int | None = None
    domestic: bool = False
    source: str = ""
