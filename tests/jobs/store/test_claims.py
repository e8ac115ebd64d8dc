"""A device is given to one job at a time, whichever of a user's processes gives it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.jobs.store.job_store import JobStore

ROUNDS = 60
# Claims one device for each job of its own in turn, as fast as it can, and says whose claim was taken.
RACER = """
import sys
from pathlib import Path
import msgspec
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.jobs.store.job_store import JobStore
store, change = JobStore(Path(sys.argv[1])), msgspec.structs.replace
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    job, device = f"{sys.argv[2]}-{number}", f"GPU-{number}"
    try:
        store.change(job, lambda now: change(now, state="preparing", device_ids=(device,)), claim=(device,))
        print(number, job, "has it", flush=True)
    except PaddleGpuError as error:
        print(number, job, error.code, flush=True)
"""


def job(name: str) -> Job:
    spec = JobSpec(name=name, notebook="/n", output="/o", folder="/", engine="docker", resources=Resources(gpus=1))
    return Job(id=name, spec=spec, state="queued", created=1.0, updated=1.0)


def test_two_processes_that_race_for_devices(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    store = JobStore(path)
    for number in range(ROUNDS):
        for side in "ab":
            store.add(job(f"{side}-{number}"))
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), side, str(ROUNDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for side in "ab"
    ]
    said: list[str] = []
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        said += racer.communicate(timeout=180)[0].splitlines()
    won = Counter(line.split()[0] for line in said if line.endswith("has it"))
    lost = Counter(line.split()[0] for line in said if line.endswith("device_busy"))
    assert won == lost == Counter({str(number): 1 for number in range(ROUNDS)}), said
    claims = store.claims()
    for number in range(ROUNDS):
        holder = claims[f"GPU-{number}"]
        assert store.get(holder).device_ids == (f"GPU-{number}",)
        other = ("b" if holder[0] == "a" else "a") + holder[1:]
        assert (store.get(other).state, store.get(other).device_ids) == ("queued", ()), (
            "a refused claim changes nothing"
        )
    # What one gives back the other may have.
    first = claims["GPU-0"]
    other = ("b" if first[0] == "a" else "a") + "-0"
    change = msgspec.structs.replace
    store.change(first, lambda now: change(now, state="failed"))
    store.change(other, lambda now: change(now, state="preparing"), claim=("GPU-0",))
    assert store.claims()["GPU-0"] == other
    store.close()
