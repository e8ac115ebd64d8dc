"""Runs one program for real on a device and says what it took: the truth beside an estimate.

A script of its own, not part of the guarded zygote: `python real_run.py` with a line of JSON {"source", "device"} on
standard input; a line of JSON on standard output. Then it waits, with all that it took, until its input is closed:
meanwhile whoever started it looks at the device. Standard library and Paddle alone.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Run, then print {"allocated", "reserved", "device", "cuda", "paddle_version", "pid"}; None: cannot be told."""
    request = json.loads(sys.stdin.readline())
    output = os.dup(1)
    os.dup2(2, 1)
    import paddle

    paddle.set_device(request["device"])
    exec(compile(request["source"], "calibration program", "exec", dont_inherit=True), {"__name__": "__main__"})
    result = on_gpu(paddle) if request["device"].startswith("gpu") else on_cpu(paddle)
    result |= {"paddle_version": paddle.__version__, "pid": os.getpid()}
    os.write(output, (json.dumps(result) + "\n").encode())
    sys.stdin.read()


def on_cpu(paddle: Any) -> dict[str, Any]:
    """The CPU allocator's peak."""
    peak = paddle.base.core.host_memory_stat_peak_value("Allocated", 0)
    return {"allocated": peak, "reserved": None, "device": "cpu", "cuda": ""}


def on_gpu(paddle: Any) -> dict[str, Any]:
    """The GPU allocator's peaks; it gives nothing back, so that the driver shows at the end what it took."""
    cuda = paddle.device.cuda
    cuda.synchronize()
    return {
        "allocated": cuda.max_memory_allocated(),
        "reserved": cuda.max_memory_reserved(),
        "device": cuda.get_device_name(),
        "cuda": str(paddle.version.cuda()),
    }


if __name__ == "__main__":
    main()
