"""Which Paddle an interpreter has, asked of its packages.

A job of a Paddle for the CPU trains there, whatever device it holds.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..devices.makers.registry import makers
from ..domain.messages import Message

_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
FOR_DEVICES = "paddlepaddle-gpu"
FOR_CPU = "paddlepaddle"
"""Both have the same module: where there is one for devices, it is taken for that. With a maker's plugin this one too
trains on devices."""
LONGEST_SECONDS = 30.0
"""For an interpreter to say what is installed in it."""


def installed(python: Path, names: Sequence[str]) -> dict[str, str]:
    """Versions of those of the packages that are installed for an interpreter."""
    command = [str(python), "-c", _VERSIONS, *names]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LONGEST_SECONDS, check=True)
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found


def for_cpu(python: Path) -> Message | None:
    """What is to be known of a job on a device where the interpreter's Paddle is for the CPU; None where it is not."""
    others = {row.name for maker in makers().rows.values() if maker.paddle for row in maker.paddle.packages}
    found = installed(python, sorted({FOR_CPU, FOR_DEVICES, *others}))
    if [*found] != [FOR_CPU]:
        return None
    return Message(
        code="paddle_for_cpu",
        text="The kernel's {package} {version} is for the CPU: a job would hold a device and train on the CPU.",
        hint="Install Paddle for GPUs in the kernel's environment (https://www.paddlepaddle.org.cn/install/quick), or "
        "submit it to the CPU.",
        params={"package": FOR_CPU, "version": found[FOR_CPU]},
    )
