"""Runs one program for real on a device and says what it took: the truth beside an estimate.

A script of its own, not part of the guarded zygote: `python real_run.py` with {"source", "device"} as JSON on standard
input; one line of JSON on standard output. Standard library and Paddle alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def main() -> None:
    """Run, then print {"allocated", "reserved", "driver", "device", "cuda", "paddle_version"}; None: cannot be told."""
    request = json.load(sys.stdin)
    output = os.dup(1)
    os.dup2(2, 1)
    before = card_used(request["device"])
    import paddle

    paddle.set_device(request["device"])
    exec(compile(request["source"], "calibration program", "exec"), {"__name__": "__main__"})
    result = on_gpu(paddle, request["device"], before) if request["device"].startswith("gpu") else on_cpu(paddle)
    result["paddle_version"] = paddle.__version__
    os.write(output, (json.dumps(result) + "\n").encode())


def on_cpu(paddle: Any) -> dict[str, Any]:
    """The CPU allocator's peak; there is no driver beside it."""
    peak = paddle.base.core.host_memory_stat_peak_value("Allocated", 0)
    return {"allocated": peak, "reserved": None, "driver": None, "device": "cpu", "cuda": ""}


def on_gpu(paddle: Any, device: str, before: int | None) -> dict[str, Any]:
    """The GPU allocator's peaks and what the driver shows; the allocator gives nothing back, so the end is the peak."""
    cuda = paddle.device.cuda
    cuda.synchronize()
    used = process_used(os.getpid())
    now = card_used(device)
    if used is None and now is not None and before is not None:
        used = now - before  # right where nobody else uses the card meanwhile
    return {
        "allocated": cuda.max_memory_allocated(),
        "reserved": cuda.max_memory_reserved(),
        "driver": used,
        "device": cuda.get_device_name(),
        "cuda": str(paddle.version.cuda()),
    }


def process_used(pid: int) -> int | None:
    """Bytes of one process over all cards, as the driver counts them."""
    for line in ask_driver("--query-compute-apps=pid,used_memory"):
        number, _, size = line.partition(",")
        if number.strip() == str(pid) and size.strip().isdigit():
            return int(size) << 20
    return None


def card_used(device: str) -> int | None:
    """Bytes in use on one card."""
    if not device.startswith("gpu"):
        return None
    lines = ask_driver("--query-gpu=memory.used", "--id=" + (device.partition(":")[2] or "0"))
    return int(lines[0]) << 20 if lines and lines[0].strip().isdigit() else None


def ask_driver(*query: str) -> list[str]:
    """Lines of nvidia-smi; none where it is not there."""
    try:
        done = subprocess.run(
            ["nvidia-smi", *query, "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.strip().splitlines()


if __name__ == "__main__":
    main()
