"""NVIDIA cards through NVML (nvidia-ml-py); the only module that imports it, and only when somebody looks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..domain.devices import Device, DeviceProcess
from . import nvidia_problems as problems
from .pci import PciFunctions
from .processes import Owners
from .reader import Reading

_MILLI = 1000
_OUT_OF_RANGE_PID = 2**32 - 1
"""NVML's word for a process that it may not name."""


class NvidiaReader:
    """Keeps NVML open between readings and opens it anew after it failed as a whole (a driver that was updated).

    NVML counts openings within a process, so that another extension that opens and closes it does no harm.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._pci = PciFunctions(root)
        self._owners = Owners(root)
        self._nvml: Any = None

    def read(self) -> Reading:
        """All cards and slices, or the reason why there are none."""
        nvml = None
        try:
            nvml = self._open()
            return self._read(nvml)
        except ImportError:
            return Reading(problems=(problems.no_binding(),))
        except _errors(nvml) as error:
            self.close()
            present = bool(self._pci.of_vendor("nvidia"))
            return Reading(problems=(problems.whole(error, present=present, root=self._root),))

    def close(self) -> None:
        """Give NVML back."""
        nvml, self._nvml = self._nvml, None
        if nvml is not None:
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlShutdown()

    def _open(self) -> Any:
        if self._nvml is None:
            import pynvml

            pynvml.nvmlInit()
            self._nvml = pynvml
        return self._nvml

    def _read(self, nvml: Any) -> Reading:
        count = nvml.nvmlDeviceGetCount()
        self._owners.refresh()
        devices = [device for index in range(count) for device in self._card(nvml, index)]
        cuda = _ask(nvml, nvml.nvmlSystemGetCudaDriverVersion)
        return Reading(
            devices=tuple(devices),
            driver_version=_ask(nvml, nvml.nvmlSystemGetDriverVersion),
            cuda_version=f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
            problems=() if count else (problems.no_card(),),
        )

    def _card(self, nvml: Any, index: int) -> Iterator[Device]:
        """A card and its slices. Whatever is wrong with it stays within it."""
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            card = self._device(nvml, handle, index)
        except nvml.NVMLError as error:
            name = "NVIDIA GPU"
            yield Device(
                id=f"nvidia-{index}", index=index, vendor="nvidia", name=name, problem=problems.card(error, index)
            )
            return
        yield card
        for slot in range(self._slots(nvml, handle)):
            with contextlib.suppress(nvml.NVMLError):  # an empty slot answers "not found"
                part = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, slot)
                yield self._device(nvml, part, index, parent=card)

    def _slots(self, nvml: Any, handle: Any) -> int:
        mode = _ask(nvml, nvml.nvmlDeviceGetMigMode, handle)
        if not mode or mode[0] != nvml.NVML_DEVICE_MIG_ENABLE:
            return 0
        return _ask(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0

    def _device(self, nvml: Any, handle: Any, index: int, parent: Device | None = None) -> Device:
        memory, problem = None, None
        try:
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
                problem = problems.card(error, index)
        utilization = _ask(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
        identity = _ask(nvml, nvml.nvmlDeviceGetUUID, handle)
        power = _ask(nvml, nvml.nvmlDeviceGetPowerUsage, handle)
        limit = _ask(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        return Device(
            id=identity or f"nvidia-{index}",
            index=index,
            vendor="nvidia",
            name=_ask(nvml, nvml.nvmlDeviceGetName, handle) or "NVIDIA GPU",
            memory_total=memory.total if memory else None,
            memory_used=memory.used if memory else None,
            memory_free=memory.free if memory else None,
            utilization=utilization.gpu if utilization else None,
            temperature=_ask(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power=power / _MILLI if power is not None else None,
            power_limit=limit / _MILLI if limit is not None else None,
            compute_capability=(
                parent.compute_capability if parent else _ask(nvml, nvml.nvmlDeviceGetCudaComputeCapability, handle)
            ),
            numa_node=parent.numa_node if parent else self._numa(nvml, handle),
            parent=parent.id if parent else None,
            processes=self._processes(nvml, handle),
            problem=problem,
        )

    def _numa(self, nvml: Any, handle: Any) -> int | None:
        info = _ask(nvml, nvml.nvmlDeviceGetPciInfo, handle)
        if info is None:
            return None
        address = info.busId.decode() if isinstance(info.busId, bytes) else str(info.busId)
        return self._pci.numa_node(address)

    def _processes(self, nvml: Any, handle: Any) -> tuple[DeviceProcess, ...]:
        """Computing and drawing processes, each once, the largest first."""
        found: dict[int, int | None] = {}
        for ask in (nvml.nvmlDeviceGetComputeRunningProcesses, nvml.nvmlDeviceGetGraphicsRunningProcesses):
            for process in _ask(nvml, ask, handle) or ():
                if process.pid != _OUT_OF_RANGE_PID:
                    found[process.pid] = max(process.usedGpuMemory or 0, found.get(process.pid) or 0) or None
        order = sorted(found, key=lambda pid: -(found[pid] or 0))
        return tuple(self._owners.describe(pid, found[pid]) for pid in order)


def _ask(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """What a card answers, or None where it cannot tell: not supported, not allowed, too old a driver."""
    try:
        return question(*arguments)
    except (nvml.NVMLError, UnicodeDecodeError):
        return None


def _errors(nvml: Any) -> type[Exception]:
    """NVML's exception class, importable only when the binding is."""
    if nvml is None:
        import pynvml

        nvml = pynvml
    error: type[Exception] = nvml.NVMLError
    return error
