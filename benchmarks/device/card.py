"""A card and its driver, asked without Paddle: what is in use, a context, allocations. Sizes in bytes."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MIB = 1 << 20


class RefusedError(Exception):
    """A call of the driver or a library did not succeed."""


class Library:
    """A shared library whose calls have to return 0."""

    def __init__(self, *patterns: str) -> None:
        roots = [Path(one) for one in sys.path if one.endswith("site-packages")]
        for pattern in patterns:
            found = [str(hit) for root in roots for hit in sorted((root / "nvidia").rglob(pattern))]
            for name in (*found, pattern):
                try:
                    self.loaded = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    continue
                self.name = name
                return
        raise RefusedError(f"{patterns[0]} is not here")

    def __call__(self, name: str, *given: Any) -> None:
        status = getattr(self.loaded, name)(*given)
        if status:
            raise RefusedError(f"{name}: {status}")


def ints(values: Sequence[int]) -> Any:
    """A C array."""
    return (ctypes.c_int * len(values))(*values)


class Card:
    """The driver's view: what the card, and what this process, has in use."""

    def __init__(self) -> None:
        import pynvml

        self._nvml = pynvml
        pynvml.nvmlInit()
        self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def used(self) -> int:
        """Of the whole card."""
        return int(self._nvml.nvmlDeviceGetMemoryInfo(self._handle).used)

    def mine(self) -> int:
        """Of this process, as nvidia-smi shows it."""
        for one in self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle):
            if one.pid == os.getpid():
                return int(one.usedGpuMemory or 0)
        return 0

    def told(self) -> dict[str, Any]:
        """What it is."""
        nvml = self._nvml
        memory = nvml.nvmlDeviceGetMemoryInfo(self._handle)
        return {
            "name": str(nvml.nvmlDeviceGetName(self._handle)),
            "driver": str(nvml.nvmlSystemGetDriverVersion()),
            "cuda": nvml.nvmlSystemGetCudaDriverVersion(),
            "capability": list(nvml.nvmlDeviceGetCudaComputeCapability(self._handle)),
            "total": memory.total,
            "idle": memory.used,
        }


def context() -> Library:
    """The driver with the card's primary context, as the CUDA runtime makes it."""
    driver = Library("libcuda.so.1")
    driver("cuInit", 0)
    device, found = ctypes.c_int(), ctypes.c_void_p()
    driver("cuDeviceGet", ctypes.byref(device), 0)
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(found), device)
    driver("cuCtxSetCurrent", found)
    return driver


def allocate(driver: Library, size: int) -> Any:
    """Device memory; its address."""
    address = ctypes.c_uint64()
    driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return ctypes.c_void_p(address.value)


def pages() -> list[dict[str, Any]]:
    """How much of the card allocations of each size take: sixty-four of each, then all given back."""
    card = Card()
    driver = context()
    allocate(driver, 1)
    sizes = [
        256, 4096, 65536, 262144, 524288, MIB - 256, MIB, MIB + 256, 3 * MIB // 2, 2 * MIB - 256, 2 * MIB,
        2 * MIB + 256, 3 * MIB, 3 * MIB + 256, 4 * MIB, 5 * MIB, 9 * MIB + 256, 20 * MIB, 33 * MIB + 256,
    ]  # fmt: skip
    rows = []
    for size in sizes:
        before, process = card.used(), card.mine()
        held, grown = [], []
        for _ in range(64):
            held.append(allocate(driver, size))
            grown.append(card.used() - before)
        rows.append(
            {
                "size": size,
                "count": 64,
                "first": grown[0],
                "all": grown[-1],
                "process": card.mine() - process,
                "steps": sorted({b - a for a, b in itertools.pairwise(grown)}),
            }
        )
        for one in held:
            driver("cuMemFree_v2", ctypes.c_uint64(one.value))
        rows[-1]["left"] = card.used() - before
    return rows
