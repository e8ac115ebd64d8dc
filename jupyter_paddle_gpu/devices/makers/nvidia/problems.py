"""NVML's errors as sentences with a next step."""

from __future__ import annotations

from pathlib import Path

from ....domain.messages import Message

# Codes from nvml.h (nvmlReturn_t); kept as numbers so that this module needs no binding.
_NO_PERMISSION = 4
_DRIVER_NOT_LOADED = 9
_IRQ_ISSUE = 11
_LIBRARY_NOT_FOUND = 12
_GPU_IS_LOST = 15
_RESET_REQUIRED = 16
_OPERATING_SYSTEM = 17
_LIB_RM_VERSION_MISMATCH = 18
_UNKNOWN = 999


def whole(error: Exception, *, present: bool, root: Path = Path("/")) -> Message:
    """Why NVML as a whole gives nothing; `present`: the PCI bus shows a card of NVIDIA's."""
    value = getattr(error, "value", None)
    if value == _LIBRARY_NOT_FOUND:
        return _library(present=present, driver=(root / "proc/driver/nvidia/version").exists())
    if value == _DRIVER_NOT_LOADED:
        return Message(
            code="driver_not_loaded",
            text="The NVIDIA driver is installed, but not loaded.",
            hint="Run `sudo modprobe nvidia`; if that fails, look at `dmesg | grep -i nvidia` "
            "and install the driver again.",
        )
    if value == _LIB_RM_VERSION_MISMATCH:
        return Message(
            code="driver_mismatch",
            text="The loaded NVIDIA driver and its library are of different versions: "
            "it was updated without a restart.",
            hint="Restart the machine. In a container, start it anew.",
        )
    if value == _NO_PERMISSION:
        return Message(
            code="driver_no_permission",
            text="You may not ask the NVIDIA driver.",
            hint="Ask an administrator for access to /dev/nvidia* (on many systems: membership in the group `video`).",
        )
    if value in (_UNKNOWN, _OPERATING_SYSTEM):
        return Message(
            code="driver_no_answer",
            text="The NVIDIA driver does not answer ({error}).",
            hint="In a container, start it anew: it can lose its devices when the host reloads its services. "
            "Else look at `dmesg | grep -i nvrm`.",
            params={"error": str(error)},
        )
    return Message(
        code="driver_failed",
        text="The NVIDIA driver reports: {error}.",
        hint="Run `nvidia-smi` in a terminal for its own words.",
        params={"error": str(error)},
    )


def _library(*, present: bool, driver: bool) -> Message:
    if driver:
        return Message(
            code="driver_library_hidden",
            text="An NVIDIA driver is loaded, but its library libnvidia-ml.so.1 is not found.",
            hint="In a container, start it with the NVIDIA runtime (`--gpus all`) and the capability `utility`. "
            "Else install the driver's library of the same version.",
        )
    if present:
        return Message(
            code="driver_missing",
            text="There is an NVIDIA card in this machine, but no NVIDIA driver.",
            hint="Install the driver (on Ubuntu: `sudo ubuntu-drivers install`) and restart.",
        )
    return Message(
        code="no_gpu",
        text="No GPU was found here.",
        hint="Estimates work without one and show on which cards a training would fit. Jobs run on the CPU.",
    )


def card(error: Exception, index: int) -> Message:
    """Why one card gives no data."""
    value = getattr(error, "value", None)
    if value == _NO_PERMISSION:
        return Message(
            code="card_no_permission",
            text="You may not look at GPU {index}.",
            hint="Ask an administrator for access to /dev/nvidia{index}.",
            params={"index": index},
        )
    if value in (_GPU_IS_LOST, _RESET_REQUIRED, _IRQ_ISSUE, _UNKNOWN):
        return Message(
            code="card_broken",
            text="GPU {index} does not answer ({error}).",
            hint="An administrator can try `nvidia-smi --gpu-reset -i {index}`, or restart the machine.",
            params={"index": index, "error": str(error)},
        )
    return Message(
        code="card_failed",
        text="GPU {index} gives no data ({error}).",
        hint="Run `nvidia-smi -i {index}` in a terminal for the driver's own words.",
        params={"index": index, "error": str(error)},
    )


def no_card() -> Message:
    """The driver works and counts none."""
    return Message(
        code="driver_sees_no_gpu",
        text="The NVIDIA driver works, but shows no GPU.",
        hint="In a container, check NVIDIA_VISIBLE_DEVICES or `--gpus`. Else check the card's seat and power.",
    )


def no_binding() -> Message:
    """The Python binding of NVML is not there."""
    return Message(
        code="binding_missing",
        text="The Python package nvidia-ml-py is missing.",
        hint="Run `pip install nvidia-ml-py` in the environment of the Jupyter server.",
    )
