"""One program for real on a device of memory alone: `python -m benchmarks.changing.real PROGRAM MARKS`.

Prints, at each of these numbers of steps, what Paddle's own `max_memory_allocated` and `max_memory_reserved` say, and
for how long it ran. The device has no kernels: operators run on the CPU, their results lie in the allocator that GPUs
have, `AutoGrowthBestFitAllocator`, with a GPU's 256 bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


class Through(BaseException):
    """The last step that was asked for has ended."""


def build(folder: Path) -> None:
    """Compile the device against the headers that Paddle brings."""
    import importlib.util

    spec = importlib.util.find_spec("paddle")
    assert spec is not None and spec.origin is not None
    headers = Path(spec.origin).parent / "include"
    command = ["g++", "-O1", "-std=c++17", "-shared", "-fPIC", f"-I{headers}", "-o", str(folder / "libledger.so")]
    subprocess.run([*command, str(FOLDER / "device.cc")], check=True)


def main(program: str, marks: list[int]) -> None:
    """Run it up to its last mark."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        os.environ |= {"CUSTOM_DEVICE_ROOT": folder, "GLOG_minloglevel": "2"}
        import numpy as np
        import paddle

        paddle.set_device("ledger:0")
        paddle.seed(0)
        np.random.seed(0)
        began, seen = time.perf_counter(), list[dict[str, Any]]()

        def counted(step: Any) -> Any:
            def update(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
                result = step(optimizer, *args, **kwargs)
                seen.append({})
                if len(seen) in marks:
                    told = {
                        "steps": len(seen),
                        "allocated": paddle.device.max_memory_allocated(),
                        "reserved": paddle.device.max_memory_reserved(),
                        "seconds": round(time.perf_counter() - began, 1),
                    }
                    print(json.dumps(told), flush=True)
                if len(seen) >= max(marks):
                    raise Through
                return result

            return update

        for kind in (paddle.optimizer.Adam, paddle.optimizer.AdamW, paddle.optimizer.Optimizer):
            if "step" in vars(kind):
                kind.step = counted(kind.step)
        with contextlib.suppress(Through):
            exec(compile(Path(program).read_text(), program, "exec"), {"__name__": "__main__", "__file__": program})


if __name__ == "__main__":
    main(sys.argv[1], [int(mark) for mark in sys.argv[2].split(",")])
