"""Devices as they are now, and accelerators as their makers describe them. Memory in bytes throughout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from .errors import PaddleGpuError
from .messages import Message

Vendor = str
"""Name of a device maker (`devices.makers`); `cpu` for none."""


class DeviceProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that holds memory of a device; None where the driver or the permission does not tell.

    Attributes:
        utilization: share of the time since the look before in which a kernel of this process ran, 0 to 100.
        container: identity of the container it runs in, twelve digits as `docker ps` shows them; None: in none, or it
            cannot be told.
        job_id: the job that it belongs to, where that may be read: of the reader's own processes.
    """

    pid: int
    memory_bytes: int | None = None
    utilization: int | None = None
    user: str | None = None
    command: str | None = None
    container: str | None = None
    job_id: str | None = None


ComputeMode = Literal["default", "exclusive_thread", "prohibited", "exclusive_process"]
"""Who may use a card at once; `prohibited`: nobody."""


class DeviceDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What else a device tells, at one moment. None means: it cannot tell.

    Attributes:
        memory_reserved: bytes that the driver keeps for itself; `memory_used` does not count them where they are told.
        clock, memory_clock: of the multiprocessors and of the memory, in MHz, beside the highest there are.
        throttling: why the clocks are not at their highest: `idle`, `power_cap`, `heat`, `hardware_heat`,
            `power_brake`, `hardware_slowdown`, `sync_boost`, `clocks_set`, `display_clocks`; empty: they are.
        slowdown_temperature: degrees Celsius at which the card slows down.
        ecc: whether memory errors are corrected; the counts are since the driver was loaded.
        pcie_generation, pcie_width: of the link to the host as it is now (an idle card saves power), beside the best.
        fans: percent of each; empty where there is none that the card knows.
        encoder, decoder: percent of the time in which video was worked on.
        persistence: whether the driver stays loaded while nobody uses the card.
        mig: whether the card can be divided into slices now.
        slice_compute, slice_memory: of a slice, its share of compute slices and bytes.
    """

    memory_reserved: int | None = None
    clock: int | None = None
    clock_max: int | None = None
    memory_clock: int | None = None
    memory_clock_max: int | None = None
    throttling: tuple[str, ...] | None = None
    slowdown_temperature: int | None = None
    ecc: bool | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    fans: tuple[int, ...] = ()
    encoder: int | None = None
    decoder: int | None = None
    compute_mode: ComputeMode | None = None
    persistence: bool | None = None
    mig: bool | None = None
    slice_compute: int | None = None
    slice_memory: int | None = None


Joint = Literal["nvlink", "board", "switch", "switches", "host_bridge", "node", "system"]
"""What joins two devices, the closest first: NVLink, one board, one PCIe switch, several, one host bridge, one NUMA
node, or only the machine."""


class DeviceLink(msgspec.Struct, frozen=True, kw_only=True):
    """How two devices (by id) are joined.

    Attributes:
        lanes: NVLinks between them, or of each to the switches.
        bandwidth: bytes a second in one direction of all lanes; None where the driver does not tell.
    """

    devices: tuple[str, str]
    joint: Joint
    lanes: int | None = None
    bandwidth: float | None = None


class DeviceHolder(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Who has a device: a job's id and its user, or a container's name and nobody, where somebody started it by hand.

    Attributes:
        name: of a job of this store; another user's is nobody's business.
        ends: the command that ends a container that was started by hand.
        bytes: of its share of the device's memory; None: it has the whole device.
    """

    job: str
    owner: str = ""
    name: str = ""
    ends: str = ""
    bytes: int | None = None


class DeviceShare(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job's share of a device's memory, in bytes.

    Attributes:
        bytes: what the job may take.
        most: what all shares of this device may take together: its memory under the policy's threshold.
        total: all of the device's memory that programs can have.
    """

    bytes: int
    most: int
    total: int


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One accelerator, or one slice of it, at one moment. None means: this device cannot tell.

    Attributes:
        id: the identity to claim and to hand to an engine (NVML UUID; `simulated-…` for a simulated one).
        index: the vendor's index on this machine.
        short_name: its name without what every card of its maker is called; empty: there is none.
        kind: Paddle's word for its maker's devices, as in `npu:0`; the maker's own (`dcu`) where several that are here
            have one word of Paddle's.
        utilization: share of the last sample interval in which a kernel ran, 0 to 100.
        temperature: degrees Celsius; `power` and `power_limit` in watts.
        compute_capability: (major, minor), NVIDIA only.
        parent: id of the whole card where this is a slice of one (MIG); `slice` its number there.
        simulated: shown for teaching; nothing can run on it.
        checked: whether what is known of this maker's devices was seen on its hardware; else it is from documents.
        details: what else it tells; None: its maker's tool tells nothing of it.
        problem: why this one device gives no data.
        fault, fault_time: the driver's word (NVIDIA: `Xid 79`) and time (seconds since the epoch) of the newest error
            of the hardware's own that it reported while we looked.
        holder: the job that was given it, of this store or, by its claim, of another one; None: none that is known.
        sharers: the jobs that have a share of its memory, known in the same way.
    """

    id: str
    index: int
    vendor: Vendor
    name: str
    short_name: str = ""
    kind: str = "gpu"
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
    slice: int | None = None
    simulated: bool = False
    checked: bool = True
    processes: tuple[DeviceProcess, ...] = ()
    details: DeviceDetails | None = None
    problem: Message | None = None
    fault: str | None = None
    fault_time: float | None = None
    holder: DeviceHolder | None = None
    sharers: tuple[DeviceHolder, ...] = ()

    @property
    def memory_usable(self) -> int | None:
        """Bytes that the empty device gives to programs: all but what its driver keeps; None where it does not tell."""
        kept = self.details.memory_reserved if self.details is not None else None
        return None if self.memory_total is None else self.memory_total - (kept or 0)

    @property
    def number(self) -> str:
        """Its number on this machine; of a slice as NVIDIA_VISIBLE_DEVICES has it, `4:1`."""
        return str(self.index) if self.slice is None else f"{self.index}:{self.slice}"

    @property
    def title(self) -> str:
        """Its maker's word and its number: `GPU 0` and `NPU 0` stand beside each other on a machine of two makers."""
        return f"{self.kind.upper()} {self.number}"

    @property
    def spellings(self) -> tuple[str, ...]:
        """What people call it who do not write its id: with its maker's word, as in Paddle, or without."""
        return f"{self.kind}:{self.number}", self.number


_WORD = re.compile(r"^([a-z]+)\s*:?\s*(?=\d)")


def device_called(text: str, devices: Iterable[Device]) -> Device | None:
    """The device of an id, a number (`1`, `4:1`) or a number with its maker's word (`npu:1` as in Paddle, `NPU 1` as it
    is shown); a simulated one where no real one is meant.

    Raises:
        PaddleGpuError: `device_ambiguous` (409) for a number that several makers' devices have.
    """
    known = list(devices)
    if (exact := next((one for one in known if one.id == text), None)) is not None:
        return exact
    plain = _WORD.sub(r"\1:", text.strip().lower())
    meant = [one for one in known if plain in one.spellings]
    found = [one for one in meant if not one.simulated] or meant[:1]
    found = [one for one in found if one.parent is None] or found  # slices without a number have that of their card
    if len(found) > 1:
        words = [one.spellings[0] for one in found]
        raise PaddleGpuError(
            "device_ambiguous",
            "“{device}” may be any of {devices}.",
            hint="Say which by its maker's word, as `{example}`, or by its id.",
            status=409,
            device=text[:80],
            devices=", ".join(f"{one.title} ({one.name})" for one in found),
            example=found[0].id if len(set(words)) < len(words) else words[-1],
        )
    return found[0] if found else None


Holders = Mapping[str, tuple[DeviceHolder, ...]]
"""Device id -> who has it as a whole, or shares of its memory."""


def whole_of(holders: Holders) -> dict[str, DeviceHolder]:
    """Of each device who has it as a whole."""
    found = {device: next((one for one in those if one.bytes is None), None) for device, those in holders.items()}
    return {device: one for device, one in found.items() if one is not None}


def shares_of(holders: Holders) -> dict[str, tuple[DeviceHolder, ...]]:
    """Of each device who has shares of its memory."""
    found = {device: tuple(one for one in those if one.bytes is not None) for device, those in holders.items()}
    return {device: those for device, those in found.items() if those}


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
        links: how each two of the devices are joined, where that is known; `joined`: those by NVLink, in words.
    """

    time: float
    host: HostSample
    devices: tuple[Device, ...] = ()
    drivers: dict[Vendor, Driver] = {}
    links: tuple[DeviceLink, ...] = ()
    joined: tuple[Message, ...] = ()
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
        bandwidth: bytes a second. `fp16`, `bf16`, `fp32`, `tf32`, `fp8`, `int8`: dense operations a second
            (multiply-add = 2), of the tensor cores where there are any.
        year: when the maker announced it.
        interconnect: bytes a second to a peer card, both directions together. `watts`: board power.
        domestic: made in China.
        usual: shown where nobody named a card; the others are known by their names.
        checked: whether what is known of its maker's devices was seen on hardware; else it is from documents.
        source: where the figures stand.
    """

    name: str
    vendor: Vendor
    memory_bytes: int
    bandwidth: float | None = None
    fp16: float | None = None
    bf16: float | None = None
    fp32: float | None = None
    tf32: float | None = None
    fp8: float | None = None
    int8: float | None = None
    interconnect: float | None = None
    compute_capability: tuple[int, int] | None = None
    watts: float | None = None
    year: int | None = None
    usable_bytes: int | None = None
    domestic: bool = False
    usual: bool = False
    checked: bool = True
    source: str = ""
