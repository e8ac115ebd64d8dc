"""NVIDIA: read through NVML, handed out by the NVIDIA Container Toolkit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ....domain.devices import Device, Inventory
from ....domain.messages import Message
from ...contexts import of_cuda, of_nccl
from ...driver_words import DriverWords
from ...maker import Maker, RuntimeHook
from .bus import PCI
from .releases import RELEASES
from .toolkit import IGNORED, MISSING, REFUSALS, ROOTLESS

if TYPE_CHECKING:
    from .reader import NvidiaReader


def _reader(root: Path) -> NvidiaReader:
    from .reader import NvidiaReader

    return NvidiaReader(root)


def _present(root: Path) -> bool:
    return any((root / path).exists() for path in ("dev/nvidiactl", "proc/driver/nvidia/version", "dev/dxg"))


def _findings(inventory: Inventory) -> Iterator[Message]:
    driver = inventory.drivers.get("nvidia")
    if driver is not None:
        yield Message(
            code="driver_found",
            text="NVIDIA driver {driver}, CUDA up to {cuda}.",
            params={"driver": driver.version, "cuda": driver.runtime or "?"},
        )


def _lost(device: str, error: str) -> Message:
    return Message(
        code="device_lost",
        text="The device {device} failed while the job ran: {error}",
        hint="`sudo dmesg | grep -i xid` says more. `sudo nvidia-smi --gpu-reset -i {id}` resets the card when "
        "nothing uses it; else restart the machine. Submit to another device meanwhile.",
        params={"device": device, "id": device, "error": error},
    )


def _barred(device: Device) -> Message | None:
    if device.details is None or device.details.compute_mode != "prohibited":
        return None
    return Message(
        code="mode_prohibited",
        text="This card's compute mode lets nobody compute on it.",
        hint="An administrator can allow it: `nvidia-smi -i {index} -c DEFAULT`.",
        params={"index": device.index},
    )


OUTDATED = Message(
    code="driver_mismatch",
    text="The host's driver is too old for the image's CUDA.",
    hint="`jupyter paddle-gpu images` names the image for this driver: submit with it as `--image`, or update the "
    "driver.",
)


def _numa(device_ids: tuple[str, ...], root: Path) -> frozenset[int]:
    """Read from the driver (`/proc/driver/nvidia/gpus/*/information`) and sysfs, so that no NVML is needed."""
    wanted: set[int] = set()
    for information in (root / "proc/driver/nvidia/gpus").glob("*/information"):
        text = information.read_text(errors="replace")
        uuid = re.search(r"GPU UUID:\s*(\S+)", text)
        minor = re.search(r"Device Minor:\s*(\d+)", text)
        names = {match[1] for match in (uuid, minor) if match}
        if not names & set(device_ids):
            continue
        numa = root / "sys/bus/pci/devices" / information.parent.name / "numa_node"
        node = int(numa.read_text()) if numa.exists() else -1
        if node < 0:
            return frozenset()
        wanted.add(node)
    return frozenset(wanted)


MAKER = Maker(
    name="nvidia",
    title="NVIDIA",
    set_device="gpu",
    visible_devices="CUDA_VISIBLE_DEVICES",
    reserved=("GPU_DEVICE_ORDINAL",),
    hidden="",
    ids=r"(GPU|MIG)-.*|nvidia-.*|\d+",
    pci=PCI,
    tools=("nvidia-smi",),
    families=("GeForce",),
    brands=("nvidia", "tesla", "geforce", "quadro", "rtx", "gtx", "generation", "workstation", "edition"),
    # RTX4090, RTXA6000; 2080ti
    spellings=((r"\brtx(?=[\da])", "rtx "), (r"(?<=\d)ti\b", " ti"), (r"\bgtx(?=\d)", "gtx "), (r"\brtxpro", "pro ")),
    # Numbers of cudaError_t: 2 memory, 35 and 803 driver, 46, 214 and 719 device, 209 no kernel image.
    words=DriverWords(
        memory=r"CUDA error\(2\)|cudaErrorMemoryAllocation|CUDNN_STATUS_ALLOC_FAILED|CUBLAS_STATUS_ALLOC_FAILED",
        lost=r"\bXid\b|has fallen off the bus|CUDA error\((46|214|719)\)",
        driver=r"CUDA driver version is insufficient|CUDA error\((35|803)\)",
        architecture=r"no kernel image is available|CUDA error\(209\)",
    ),
    bfloat16=(8, 0),  # Ampere
    lost=_lost,
    outdated=OUTDATED,
    barred=_barred,
    reader=_reader,
    container=RuntimeHook(
        runtime="nvidia",
        capabilities=("gpu", "compute", "utility"),
        cdi="nvidia.com/gpu",
        programs=("nvidia-container-runtime-hook", "nvidia-container-runtime", "nvidia-ctk"),
        # CUDA base images say NVIDIA_VISIBLE_DEVICES=all: with NVIDIA's runtime as default that would hand out all.
        hide={"NVIDIA_VISIBLE_DEVICES": "void"},
        orders=r"NVIDIA_.*",
        shown=("/dev/nvidia[0-9]*", "/dev/dxg"),  # WSL 2 has the latter
        missing=MISSING,
        ignored=IGNORED,
        rootless=ROOTLESS,
        refusals=REFUSALS,
    ),
    releases=RELEASES,
    context=of_cuda,
    communication=of_nccl,
    findings=_findings,
    present=_present,
    numa=_numa,
    standing="read",
)
