"""NVIDIA: read through NVML, handed out by the NVIDIA Container Toolkit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ....domain.devices import Inventory
from ....domain.messages import Message
from ...contexts import of_cuda
from ...maker import Maker, RuntimeHook
from .bus import PCI

if TYPE_CHECKING:
    from .reader import NvidiaReader


def _reader(root: Path) -> NvidiaReader:
    from .reader import NvidiaReader

    return NvidiaReader(root)


def _present(root: Path) -> bool:
    return any((root / path).exists() for path in ("dev/nvidiactl", "proc/driver/nvidia/version", "dev/dxg"))


def _findings(inventory: Inventory) -> Iterator[Message]:
    if inventory.driver_version:
        yield Message(
            code="driver_found",
            text="NVIDIA driver {driver}, CUDA up to {cuda}.",
            params={"driver": inventory.driver_version, "cuda": inventory.cuda_version or "?"},
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
    reader=_reader,
    container=RuntimeHook(
        runtime="nvidia",
        capabilities=("gpu", "compute", "utility"),
        cdi="nvidia.com/gpu",
        programs=("nvidia-container-runtime-hook", "nvidia-container-runtime", "nvidia-ctk"),
        # CUDA base images say NVIDIA_VISIBLE_DEVICES=all: with NVIDIA's runtime as default that would hand out all.
        hide={"NVIDIA_VISIBLE_DEVICES": "void"},
        shown=("/dev/nvidia[0-9]*", "/dev/dxg"),  # WSL 2 has the latter
    ),
    images=None,
    context=of_cuda,
    findings=_findings,
    present=_present,
    numa=_numa,
    standing="read",
)
