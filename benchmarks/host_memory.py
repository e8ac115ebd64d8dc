"""What trainings take of the machine's own memory, against the estimate that limits of containers rest on.

    python -m benchmarks host_memory
    python -m benchmarks.host_memory --containers

Each program runs as a job's runner runs it, on the CPU; what its processes hold of anonymous and shared memory is added
up every 20 ms (a page that n of them share counts 1/n each), which is what a container's limit is held against. Linux.
`--containers` submits them as jobs instead, each in a real container under the limit that follows from its estimate
with the floor set to 0, on the tests' private daemon (root, dockerd). What they used is what the job's row says:
samples of what Docker tells, which miss short peaks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.base import RUNNER, JobFolder, runner_spec
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.services import Services, Settings, Submission

from .docker_overhead import STAND_INS
from .host_programs import PROGRAMS
from .report import save, show

SAMPLE_SECONDS = 0.02
MIB = 1 << 20
IMAGE = "stand-in/paddle:1"
JOB_SECONDS = 600
PARTS = ("process", "data", "tensors", "batches", "checkpoint", "workers", "shared_memory")


class Meter:
    """The most that a process and all below it held of memory that no file stands behind, in bytes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._process = psutil.Process(pid)

    def watch(self, over: threading.Event) -> None:
        """Until `over`."""
        while not over.wait(SAMPLE_SECONDS):
            try:
                tree = [self._process, *self._process.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            self.peak = max(self.peak, sum(_held(process.pid) for process in tree))


def _held(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def notebook_of(cells: list[str]) -> dict[str, Any]:
    """A notebook with these code cells."""
    made = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for n, source in enumerate(cells)
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}


def measured(notebook: Path, folder: JobFolder) -> tuple[int, dict[str, Any]]:
    """(bytes, the runner's result) of a real run."""
    folder.path.mkdir(parents=True)
    folder.source.write_bytes(notebook.read_bytes())
    spec = JobSpec(name="n", notebook=str(notebook), output="", folder=str(notebook.parent), engine="local")
    now = time.time()
    job = Job(id=folder.path.name, spec=spec, state="running", created=now, updated=now)
    folder.spec.write_text(json.dumps(runner_spec(job, folder, stop_seconds=5.0)))
    over = threading.Event()
    with subprocess.Popen(
        [sys.executable, str(RUNNER), str(folder.spec)], env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    ) as run:
        meter = Meter(run.pid)
        thread = threading.Thread(target=meter.watch, args=(over,))
        thread.start()
        run.wait()
        over.set()
        thread.join()
    return meter.peak, json.loads(folder.result.read_text())


def row(name: str, estimate: Estimate, peak: int, result: dict[str, Any]) -> dict[str, Any]:
    """The figures of one program."""
    host, settings = estimate.host, DockerSettings()
    if host is None or result["reason"] != "succeeded":
        raise RuntimeError(f"{name}: {estimate.evidence}, {result['reason']}: {result.get('message')}")
    limit = max(round(host.bytes * settings.memory_headroom), settings.memory_floor)
    parts = {part: getattr(host, part) for part in PARTS}
    return {"name": name, "predicted": host.bytes, "measured": peak, "limit": limit, **parts}


def in_containers(folder: Path) -> list[dict[str, Any]]:
    """Each program as a job under the limit from its estimate alone: how it ended, and the most that it used."""
    sys.path.insert(0, str(STAND_INS))
    from stand_ins.daemon import PrivateDaemon
    from stand_ins.image import make_image

    packages = sysconfig.get_path("purelib")
    daemon = PrivateDaemon(Path(tempfile.mkdtemp(prefix="pgd-")))
    daemon.start()
    rows = []
    try:
        make_image(daemon.api(), IMAGE, path_to_packages=packages)
        docker = {
            "host": daemon.host,
            "networks": ["none"],
            "data_folders": [packages],
            "memory_floor": 0,
        }
        (folder / "data").mkdir()
        (folder / "data" / "policy.json").write_text(json.dumps({"docker": docker, "images": {"allowed": [IMAGE]}}))
        (folder / "work").mkdir()
        services = Services(Settings(data_folder=folder / "data"))
        services.start_jobs()
        for number, (name, cells) in enumerate(PROGRAMS.items()):
            source = services.open(folder / "work" / f"n{number}.ipynb", notebook_of(cells))
            submission = Submission(engine="docker", image=IMAGE, resources=Resources())
            ended = services.jobs.wait(services.submit(source, submission).id, JOB_SECONDS)
            used = ended.result.statistics if ended.result else None
            limit = ended.spec.limits.memory_bytes if ended.spec.limits else None
            peak = used.memory_peak_bytes if used else None
            rows.append({"name": name, "limit": limit, "measured": peak, "state": ended.state})
        services.close()
    finally:
        daemon.dispose()
    return rows


def main() -> None:
    """Print the table and write it as JSON."""
    if sys.argv[1:] == ["--containers"]:
        with tempfile.TemporaryDirectory() as folder:
            found = in_containers(Path(folder))
        table = [
            [one["name"], f"{one['limit'] / MIB:,.0f}", f"{one['measured'] / MIB:,.0f}", one["state"]] for one in found
        ]
        show("In containers (MiB)", ["program", "limit", "most used", "ended"], table)
        save("host_memory_containers", {"programs": found})
        return
    rows = []
    with tempfile.TemporaryDirectory() as kept:
        services = Services(Settings(data_folder=Path(kept, "data")))
        for number, (name, cells) in enumerate(PROGRAMS.items()):
            notebook = Path(kept, f"n{number}", "n.ipynb")
            notebook.parent.mkdir()
            notebook.write_text(json.dumps(notebook_of(cells)))
            estimate = services.estimate(services.open(notebook), EstimateRequest(target="cpu"))
            peak, result = measured(notebook, JobFolder(Path(kept, "jobs", f"j{number}")))
            rows.append(row(name, estimate, peak, result))
        services.close()
    table = [
        [
            one["name"],
            f"{one['measured'] / MIB:,.0f}",
            f"{one['predicted'] / MIB:,.0f}",
            f"{one['predicted'] / one['measured']:.2f}",
            f"{one['limit'] / MIB:,.0f}",
        ]
        for one in rows
    ]
    show("Host memory (MiB)", ["program", "measured", "estimated", "ratio", "limit"], table)
    save("host_memory", {"programs": rows})


if __name__ == "__main__":
    main()
