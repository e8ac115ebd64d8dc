"""`python samples.py NAME COUNT`: that many samples of all cards in this process; JSON of calls and processor time.

Runs in the interpreter that has the tool, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace


def ours() -> Callable[[], object]:
    """The inventory as the panel gets it: cards, processes, links, host."""
    from jupyter_paddle_gpu.devices.service import DeviceService

    service = DeviceService(Path())
    return service.snapshot


def nvdashboard() -> Callable[[], object]:
    """Its resource chart, the one with most figures."""
    from jupyterlab_nvdashboard.apps.gpu import GPUResourceWebSocketHandler as Chart

    told = SimpleNamespace(write_message=lambda text: None)
    return lambda: Chart.send_data(told)


def gpustat() -> Callable[[], object]:
    """All it prints."""
    import gpustat

    return gpustat.GPUStatCollection.new_query


def nvitop() -> Callable[[], object]:
    """The snapshots of which its table is made: cards, then their processes."""
    from nvitop.api import Device, GpuProcess

    devices = Device.all()

    def sample() -> object:
        cards = [device.as_snapshot() for device in devices]
        processes = [one for device in devices for one in device.processes().values()]
        return cards, GpuProcess.take_snapshots(processes)

    return sample


def main() -> None:
    """Print median processor and wall seconds of a sample, and its calls of NVML."""
    sample, count = globals()[sys.argv[1]](), int(sys.argv[2])
    with Path(os.environ["NVML_CALLS"]).open("r+b") as file:
        kept = mmap.mmap(file.fileno(), 8)
    for _ in range(3):
        sample()
    before = struct.unpack_from("l", kept)[0]
    processor, wall = [], []
    for _ in range(count):
        began, ticks = time.perf_counter(), time.process_time()
        sample()
        processor.append(time.process_time() - ticks)
        wall.append(time.perf_counter() - began)
    calls = (struct.unpack_from("l", kept)[0] - before) / count
    middle = count // 2
    print(json.dumps({"calls": calls, "processor": sorted(processor)[middle], "wall": sorted(wall)[middle]}))


if __name__ == "__main__":
    main()
