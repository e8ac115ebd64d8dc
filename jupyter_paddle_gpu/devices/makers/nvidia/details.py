"""What an NVIDIA card tells beside memory, load, heat and power."""

from __future__ import annotations

from typing import Any

from ....domain.devices import ComputeMode, DeviceDetails
from .asking import ask

_REASONS = {
    0x1: "idle",
    0x2: "clocks_set",
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x10: "sync_boost",
    0x20: "heat",
    0x40: "hardware_heat",
    0x80: "power_brake",
    0x100: "display_clocks",
}
"""Bits of `nvmlClocksEventReasons` (nvml.h)."""
_COMPUTE_MODES: tuple[ComputeMode, ...] = ("default", "exclusive_thread", "prohibited", "exclusive_process")
"""By `nvmlComputeMode_t`."""


def details(nvml: Any, handle: Any, reserved: int | None) -> DeviceDetails:
    """All of it, with the bytes that the driver keeps for itself; a slice of a card tells little of this."""
    ecc = ask(nvml, nvml.nvmlDeviceGetEccMode, handle)
    mode = ask(nvml, nvml.nvmlDeviceGetComputeMode, handle)
    persistence = ask(nvml, nvml.nvmlDeviceGetPersistenceMode, handle)
    mig = ask(nvml, nvml.nvmlDeviceGetMigMode, handle)
    encoder = ask(nvml, nvml.nvmlDeviceGetEncoderUtilization, handle)
    decoder = ask(nvml, nvml.nvmlDeviceGetDecoderUtilization, handle)
    part = ask(nvml, nvml.nvmlDeviceGetAttributes_v2, handle)
    slowdown = nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
    return DeviceDetails(
        memory_reserved=reserved,
        clock=ask(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
        clock_max=ask(nvml, nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM),
        memory_clock=ask(nvml, nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM),
        memory_clock_max=ask(nvml, nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_MEM),
        throttling=_throttling(nvml, handle),
        slowdown_temperature=ask(nvml, nvml.nvmlDeviceGetTemperatureThreshold, handle, slowdown),
        ecc=bool(ecc[0]) if ecc is not None else None,
        ecc_corrected=_ecc_errors(nvml, handle, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
        ecc_uncorrected=_ecc_errors(nvml, handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
        pcie_generation=ask(nvml, nvml.nvmlDeviceGetCurrPcieLinkGeneration, handle),
        pcie_generation_max=ask(nvml, nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        pcie_width=ask(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        pcie_width_max=ask(nvml, nvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
        fans=_fans(nvml, handle),
        encoder=encoder[0] if encoder is not None else None,
        decoder=decoder[0] if decoder is not None else None,
        compute_mode=_COMPUTE_MODES[mode] if mode is not None and mode < len(_COMPUTE_MODES) else None,
        persistence=bool(persistence) if persistence is not None else None,
        mig=bool(mig[0]) if mig is not None else None,
        slice_compute=part.computeInstanceSliceCount if part is not None else None,
        slice_memory=part.memorySizeMB << 20 if part is not None else None,
    )


def _throttling(nvml: Any, handle: Any) -> tuple[str, ...] | None:
    """Under the name of newer drivers, and of those before 535."""
    mask = ask(nvml, nvml.nvmlDeviceGetCurrentClocksEventReasons, handle)
    if mask is None:
        mask = ask(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
    return None if mask is None else tuple(word for bit, word in _REASONS.items() if mask & bit)


def _ecc_errors(nvml: Any, handle: Any, kind: int) -> int | None:
    found = ask(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, kind, nvml.NVML_VOLATILE_ECC)
    return None if found is None else int(found)


def _fans(nvml: Any, handle: Any) -> tuple[int, ...]:
    """Of each fan; before driver 460 of one; cards without any say that they cannot tell."""
    count = ask(nvml, nvml.nvmlDeviceGetNumFans, handle)
    if count is None:
        speeds = [ask(nvml, nvml.nvmlDeviceGetFanSpeed, handle)]
    else:
        speeds = [ask(nvml, nvml.nvmlDeviceGetFanSpeed_v2, handle, fan) for fan in range(count)]
    return tuple(int(speed) for speed in speeds if speed is not None)
