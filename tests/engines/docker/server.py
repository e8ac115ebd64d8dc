"""A job service in a process of its own, to be killed: `python server.py DATA_FOLDER DOCKER_HOST [SETTINGS]`."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.engines.base import JobFolder
from jupyter_paddle_gpu.engines.docker import DockerSettings
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

DISK_BYTES = "PADDLE_GPU_TEST_DISK_BYTES"
"""Names how much of a disk must be free: a test with a small one needs another figure."""
DISK_PATIENCE = "PADDLE_GPU_TEST_DISK_PATIENCE"
"""Names for how many seconds a job is held up on a full disk, where a test waits for the end of that."""


class Engine(DockerEngine):
    """The engine, whose jobs' runners wait as long as the test wants."""

    def prepare(self, job: Job, folder: JobFolder, *arguments: Any) -> dict[str, Any]:
        if patience := os.environ.get(DISK_PATIENCE):
            limits = {"disk_patience_seconds": float(patience)}
            folder.spec.write_text(json.dumps({**json.loads(folder.spec.read_bytes()), "limits": limits}))
        return super().prepare(job, folder, *arguments)


def inventory() -> Inventory:
    """Two stand-in devices, with all their memory free."""
    size = 16 << 30
    devices = tuple(
        Device(
            id=f"GPU-fake-{n}",
            index=n,
            vendor="nvidia",
            name="Stand-in",
            memory_total=size,
            memory_used=0,
            memory_free=size,
        )
        for n in range(2)
    )
    host = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=size, memory_available=size)
    return Inventory(time=time.time(), host=host, devices=devices)


def service(data: Path, host: str, claims: Claims | None = None, **settings: object) -> JobService:
    engine = Engine(
        DockerSettings(
            host=host,
            store=str(data / "jobs"),
            allowed_images=("stand-in/*", "127.0.0.1:*/*"),
            networks=("none",),
            data_folders=(sysconfig.get_path("purelib"),),
            shm_bytes=64 << 20,
            tmp_bytes=256 << 20,
            progress_seconds=0.2,
            disk_bytes=int(os.environ.get(DISK_BYTES, DockerSettings().disk_bytes)),
        )
    )
    given = {"active_seconds": 0.1, "idle_seconds": 0.2, "retry_seconds": 0.5, "stop_seconds": 3.0}
    given["order_seconds"] = 600.0  # a container that a busy machine starts late has not hung
    return JobService.open(
        {"docker": engine},
        data_folder=data,
        settings=JobSettings(**{**given, **settings}),
        inventory=inventory,
        claims=claims,
    )


if __name__ == "__main__":
    running = service(Path(sys.argv[1]), sys.argv[2], **json.loads(sys.argv[3] if sys.argv[3:] else "{}"))
    running.start()
    print("up", flush=True)
    while True:
        time.sleep(3600)
