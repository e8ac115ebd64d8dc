"""What a worker and each of its requests may take."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import psutil

TRACER = Path(__file__).parents[1] / "tracer"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request may take.

    Attributes:
        memory_bytes: address space beyond what the imported libraries have mapped.
        cpu_seconds: the processor's time; it decides what an answer is of.
        wall_seconds: on the clock: a machine that is busy with other work takes longer for the same answer.
        waiting_seconds: on the clock, in which the program does nothing but wait.
        file_bytes: size of one file in the private temporary folder.
        reply_bytes, output_bytes: length of the answer; how much printed text is kept.
    """

    memory_bytes: int
    cpu_seconds: int = 60
    wall_seconds: float = 180.0
    waiting_seconds: float = 60.0
    file_bytes: int = 64 << 20
    reply_bytes: int = 128 << 20
    output_bytes: int = 16 << 10


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Delays and limits of a worker.

    Attributes:
        start_seconds: how long `import paddle` may take.
        idle_seconds: after this time without a request the zygote ends and gives its memory back.
        grace_seconds: how much longer than `wall_seconds` the server waits before it gives the zygote up.
        memory_share: part of the machine's available memory that one request may map, at most `memory_bytes`.
        fork: a child for each request out of a warm process; otherwise a fresh process for each.
        tracer: folder of the package that the zygote imports, with `trace_notebook(request)`.
    """

    start_seconds: float = 120.0
    idle_seconds: float = 600.0
    grace_seconds: float = 5.0
    memory_share: float = 0.7
    memory_bytes: int = 12 << 30
    least_memory_bytes: int = 512 << 20
    wall_seconds: float = 180.0
    waiting_seconds: float = 60.0
    cpu_seconds: int = 60
    tracer: Path = TRACER
    fork: bool = hasattr(os, "fork")

    def limits(self) -> Limits:
        """The limits of a request that starts now."""
        available = int(available_memory() * self.memory_share)
        return Limits(
            memory_bytes=max(min(self.memory_bytes, available), self.least_memory_bytes),
            cpu_seconds=self.cpu_seconds,
            wall_seconds=self.wall_seconds,
            waiting_seconds=self.waiting_seconds,
        )


def available_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that may still be used here: the machine's, or less where a container's cgroup (version 2) limits it."""
    available = int(psutil.virtual_memory().available)
    try:
        limit, used = (cgroup / "memory.max").read_text().strip(), (cgroup / "memory.current").read_text()
        return available if limit == "max" else max(min(available, int(limit) - int(used)), 0)
    except (OSError, ValueError):  # no cgroup of that version, or not ours to read
        return available
