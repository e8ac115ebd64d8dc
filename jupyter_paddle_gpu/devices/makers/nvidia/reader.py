"""NVIDIA cards through NVML (nvidia-ml-py); the only module that imports it, and only when somebody looks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ....domain.devices import Device, DeviceProcess, Driver
from ....domain.messages import Message
from ...pci import PciFunctions
from ...processes import Owners
from ...reader import Reading
from . import problems
from .asking import ask
from .bus import PCI
from .details import details
from .events import XidEvents
from .topology import Topology
from .utilization import ProcessUtilization

_MILLI = 1000
_OUT_OF_RANGE_PID = 2**32 - 1
"""NVML's word for a process that it may not name."""

RETRY_SECONDS = 10.0
"""Opening NVML without a working driver may start helpers of the driver each time: not every two seconds."""


class NvidiaReader:
    """Keeps NVML open between readings and opens it anew after it failed as a whole (a driver that was updated).

    NVML counts openings within a process, so that another extension that opens and closes it does no harm.

    Args:
        root: where /proc and /sys are found.
        retry_seconds: for so long a whole failure is repeated without asking the driver again.
    """

    def __init__(self, root: Path = Path("/"), *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._root = root
        self._retry_seconds = retry_seconds
        self._pci = PciFunctions(root)
        self._owners = Owners(root)
        self._utilization = ProcessUtilization()
        self._events = XidEvents()
        self._topology = Topology()
        self._handles: dict[str, Any] = {}  # of whole cards that answer, by id, as of this reading
        self._identities: dict[int, tuple[str, str]] = {}  # of cards by index: one that is lost keeps its name
        self._nvml: Any = None
        self._failure: Reading | None = None
        self._retry_at = 0.0

    def read(self) -> Reading:
        """All cards and slices, or the reason why there are none."""
        if self._failure is not None and time.monotonic() < self._retry_at:
            return self._failure
        try:
            import pynvml
        except ImportError:
            return self._failed(problems.no_binding())
        try:
            reading = self._read_opened(pynvml)
        except pynvml.NVMLError as error:
            self.close()
            present = bool(self._pci.of(PCI))
            return self._failed(problems.whole(error, present=present, root=self._root))
        self._failure = None
        return reading

    def close(self) -> None:
        """Give NVML back."""
        nvml, self._nvml = self._nvml, None
        if nvml is not None:
            self._events.close(nvml)
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlShutdown()

    def _failed(self, problem: Message) -> Reading:
        self._failure = Reading(problems=(problem,))
        self._retry_at = time.monotonic() + self._retry_seconds
        return self._failure

    def _read_opened(self, nvml: Any) -> Reading:
        was_open = self._nvml is not None
        try:
            return self._read(self._open(nvml))
        except nvml.NVMLError as error:
            if not was_open or error.value != nvml.NVML_ERROR_UNINITIALIZED:
                raise
            self._nvml = None  # somebody else in this process closed NVML once too often
            self._events = XidEvents()  # the set went with it
            return self._read(self._open(nvml))

    def _open(self, nvml: Any) -> Any:
        if self._nvml is None:
            nvml.nvmlInit()
            self._nvml = nvml
        return nvml

    def _read(self, nvml: Any) -> Reading:
        count = nvml.nvmlDeviceGetCount()
        self._owners.refresh()
        self._events.read(nvml)
        self._handles = {}
        devices = [device for index in range(count) for device in self._card(nvml, index)]
        version = ask(nvml, nvml.nvmlSystemGetDriverVersion)
        cuda = ask(nvml, nvml.nvmlSystemGetCudaDriverVersion)
        runtime = f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None
        return Reading(
            devices=tuple(devices),
            drivers={"nvidia": Driver(version=version, runtime=runtime)} if version else {},
            links=self._topology.read(nvml, self._handles),
            problems=() if count else (problems.no_card(),),
        )

    def _card(self, nvml: Any, index: int) -> Iterator[Device]:
        """A card and its slices. Whatever is wrong with it stays within it."""
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            card = self._device(nvml, handle, index)
        except nvml.NVMLError as error:
            identity, name = self._identities.get(index, (f"nvidia-{index}", "NVIDIA GPU"))
            yield self._heard(
                Device(id=identity, index=index, vendor="nvidia", name=name, problem=problems.card(error, index))
            )
            return
        self._events.watch(nvml, handle, card.id)
        self._identities[index] = (card.id, card.name)
        if card.problem is None:
            self._handles[card.id] = handle
        yield self._heard(card)
        for slot in range(self._slots(nvml, handle)):
            with contextlib.suppress(nvml.NVMLError):  # an empty slot answers "not found"
                part = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, slot)
                yield msgspec.structs.replace(self._device(nvml, part, index, parent=card), slice=slot)

    def _heard(self, card: Device) -> Device:
        """The card with the error that the driver reported of it."""
        heard = self._events.of(card.id)
        return card if heard is None else msgspec.structs.replace(card, fault=f"Xid {heard[0]}", fault_time=heard[1])

    def _slots(self, nvml: Any, handle: Any) -> int:
        mode = ask(nvml, nvml.nvmlDeviceGetMigMode, handle)
        if not mode or mode[0] != nvml.NVML_DEVICE_MIG_ENABLE:
            return 0
        return ask(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0

    def _device(self, nvml: Any, handle: Any, index: int, parent: Device | None = None) -> Device:
        memory, problem = _memory(nvml, handle, index)
        utilization = ask(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
        identity = ask(nvml, nvml.nvmlDeviceGetUUID, handle)
        power = ask(nvml, nvml.nvmlDeviceGetPowerUsage, handle)
        limit = ask(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        return Device(
            id=identity or f"nvidia-{index}",
            index=index,
            vendor="nvidia",
            name=ask(nvml, nvml.nvmlDeviceGetName, handle) or "NVIDIA GPU",
            memory_total=memory.total if memory else None,
            memory_used=memory.used if memory else None,
            memory_free=memory.free if memory else None,
            utilization=utilization.gpu if utilization else None,
            temperature=ask(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power=power / _MILLI if power is not None else None,
            power_limit=limit / _MILLI if limit is not None else None,
            compute_capability=(
                parent.compute_capability if parent else ask(nvml, nvml.nvmlDeviceGetCudaComputeCapability, handle)
            ),
            numa_node=parent.numa_node if parent else self._numa(nvml, handle),
            parent=parent.id if parent else None,
            processes=self._processes(nvml, handle),
            details=details(nvml, handle, getattr(memory, "reserved", None)),
            problem=problem,
        )

    def _numa(self, nvml: Any, handle: Any) -> int | None:
        info = ask(nvml, nvml.nvmlDeviceGetPciInfo, handle)
        if info is None:
            return None
        address = info.busId.decode() if isinstance(info.busId, bytes) else str(info.busId)
        return self._pci.numa_node(address)

    def _processes(self, nvml: Any, handle: Any) -> tuple[DeviceProcess, ...]:
        """Computing and drawing processes, each once, the largest first."""
        found: dict[int, int | None] = {}
        for kind in ("Compute", "Graphics"):
            for process in _running(nvml, kind, handle):
                if process.pid != _OUT_OF_RANGE_PID:
                    found[process.pid] = max(process.usedGpuMemory or 0, found.get(process.pid) or 0) or None
        order = sorted(found, key=lambda pid: -(found[pid] or 0))
        shares = self._utilization.read(nvml, handle) if found else {}
        return tuple(self._owners.describe(pid, found[pid], shares.get(pid)) for pid in order)


def _memory(nvml: Any, handle: Any, index: int) -> tuple[Any, Message | None]:
    """What the card has and what is in use, or what is wrong with it.

    Drivers from 510 on tell apart what they keep for themselves (615 MiB of an idle H200), as nvidia-smi shows it; the
    older question counts it as used.
    """
    if (memory := ask(nvml, nvml.nvmlDeviceGetMemoryInfo, handle, nvml.nvmlMemory_v2)) is not None:
        return memory, None
    try:
        return nvml.nvmlDeviceGetMemoryInfo(handle), None
    except nvml.NVMLError as error:
        return None, None if error.value == nvml.NVML_ERROR_NOT_SUPPORTED else problems.card(error, index)


def _running(nvml: Any, kind: str, handle: Any) -> list[Any]:
    """The binding's unversioned functions ask in the newest way and raise something else than NVMLError where a
    driver before 510 does not know it."""
    for version in ("v3", "v2"):
        question = getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses_{version}", None)
        processes = ask(nvml, question, handle) if question is not None else None
        if processes is not None:
            return list(processes)
    return []
