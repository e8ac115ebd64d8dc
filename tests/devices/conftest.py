from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.devices.reader import Reading

READ = """
import os, sys, msgspec
from pathlib import Path
from jupyter_paddle_gpu.devices.makers.nvidia.reader import NvidiaReader
reader = NvidiaReader(Path(sys.argv[1]), retry_seconds=float(os.environ["RETRY_SECONDS"]))
readings = []
for change in sys.argv[3:] or [None]:
    if change is not None:
        Path(sys.argv[2]).write_text(change)
    readings.append(reader.read())
    exec(os.environ["BETWEEN"])
reader.close()
sys.stdout.buffer.write(msgspec.json.encode(readings))
"""


@pytest.fixture
def nvidia(stand_in: Path, tmp_path: Path) -> Callable[..., list[Reading]]:
    """Readings of a fresh process, in which the dynamic loader finds the stand-in; one for each state of the world."""

    def read(*worlds: str, library: str = "new", between: str = "", retry_seconds: float = 0) -> list[Reading]:
        script = tmp_path / "world"
        environment = {**os.environ, "NVML_STAND_IN": str(script)}
        environment["LD_LIBRARY_PATH"] = str(stand_in / library) if library else ""
        environment |= {"BETWEEN": between, "RETRY_SECONDS": str(retry_seconds)}
        command = [sys.executable, "-c", READ, str(tmp_path / "root"), str(script), *worlds]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        return msgspec.json.decode(done.stdout, type=list[Reading])

    return read
