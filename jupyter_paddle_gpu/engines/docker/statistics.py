"""What a container uses now, and a history of it that covers the whole job at a bounded size."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

import msgspec

from .. import own_files


class ContainerSample(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a container. `cpu_percent` counts 100 for one processor; sizes in bytes, totals since its start."""

    time: float
    cpu_seconds: float
    cpu_percent: float | None = None
    memory_bytes: int | None = None
    memory_limit: int | None = None
    processes: int | None = None
    read_bytes: int = 0
    written_bytes: int = 0
    received_bytes: int = 0
    sent_bytes: int = 0


def read_sample(answer: dict[str, Any], before: ContainerSample | None = None) -> ContainerSample | None:
    """A sample from Docker's answer; None where the container does not run. `before` gives the CPU share since then."""
    cpu = answer.get("cpu_stats") or {}
    memory = answer.get("memory_stats") or {}
    if not memory.get("usage") and not (cpu.get("cpu_usage") or {}).get("total_usage"):
        return None
    now = time.time()
    seconds = int(cpu.get("cpu_usage", {}).get("total_usage", 0)) / 1e9
    share = None
    if before is not None and now > before.time:
        share = max(0.0, 100.0 * (seconds - before.cpu_seconds) / (now - before.time))
    details = memory.get("stats") or {}
    # As `docker stats`: pages of files that can be dropped at any time do not count (v1 and v2 name them differently).
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    blocks = (answer.get("blkio_stats") or {}).get("io_service_bytes_recursive") or []
    networks = (answer.get("networks") or {}).values()
    return ContainerSample(
        time=now,
        cpu_seconds=seconds,
        cpu_percent=share,
        memory_bytes=max(0, int(memory.get("usage", 0)) - int(cache)),
        memory_limit=memory.get("limit"),
        processes=(answer.get("pids_stats") or {}).get("current"),
        read_bytes=sum(int(row["value"]) for row in blocks if row.get("op", "").lower() == "read"),
        written_bytes=sum(int(row["value"]) for row in blocks if row.get("op", "").lower() == "write"),
        received_bytes=sum(int(row.get("rx_bytes", 0)) for row in networks),
        sent_bytes=sum(int(row.get("tx_bytes", 0)) for row in networks),
    )


class History:
    """Samples of one job in `statistics.jsonl`. When it is full every second one goes: times get coarser, none is lost.

    The peak of memory survives the thinning, because of two neighbours the one with more memory stays.
    """

    def __init__(self, path: Path, points: int) -> None:
        self.path = path
        self.points = max(points, 4)

    def read(self) -> list[ContainerSample]:
        """All that is kept, oldest first. A torn last line (a crash while writing) is left out."""
        kept: list[ContainerSample] = []
        try:
            data = own_files.read(self.path)
        except OSError:  # none yet, or a link in its place
            return kept
        for line in data.splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                kept.append(msgspec.json.decode(line, type=ContainerSample))
        return kept

    def add(self, sample: ContainerSample) -> None:
        """Keep one more."""
        kept = self.read()
        if len(kept) + 1 < self.points:
            _write(self.path, msgspec.json.encode(sample) + b"\n", os.O_APPEND)
            return
        kept = [*thinned(kept), sample]
        part = self.path.with_suffix(".part")
        _write(part, b"".join(msgspec.json.encode(row) + b"\n" for row in kept), os.O_TRUNC)
        part.replace(self.path)


def _write(path: Path, data: bytes, how: int) -> None:
    # The folder is the job's to write in: a link it made must not be followed.
    handle = own_files.open_descriptor(path, os.O_WRONLY | os.O_CREAT | how, 0o644)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def thinned(samples: list[ContainerSample]) -> list[ContainerSample]:
    """About half as many: the first, and of each pair after it the one with more memory."""
    first, samples = samples[:1], samples[1:]
    pairs = [samples[index : index + 2] for index in range(0, len(samples), 2)]
    return first + [max(pair, key=lambda sample: sample.memory_bytes or 0) for pair in pairs]
