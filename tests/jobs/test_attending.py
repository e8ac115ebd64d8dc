"""Who looks after the queue: one at a time, whoever starts and stops, until nothing is left."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.engines.base import JobFolder
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings


def test_jobs_run_in_order_one_after_the_other(service: JobService, spec: Any, make_notebook: Any, until: Any) -> None:
    source = "import time\nopen('order', 'a').write('{0}')\ntime.sleep(0.2)\nopen('order', 'a').write('{0}')"
    jobs = [service.submit(spec(f"j{n}"), make_notebook(source.format(n))) for n in range(3)]
    waiting = until(lambda: service.get(jobs[2].id).reason)
    assert waiting.code in ("waits_slot", "succeeded")
    for job in jobs:
        assert service.wait(job.id, 180).state == "succeeded"
    assert (Path(jobs[0].spec.folder) / "order").read_text() == "001122"


def test_starting_and_stopping_from_many_threads_leaves_one_that_looks_after_the_jobs(
    open_service: Any, spec: Any, make_notebook: Any
) -> None:
    service = open_service()
    service._dispatcher = None
    faults: list[BaseException] = []

    def looking() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "paddle-gpu jobs"]

    def turn(number: int) -> None:
        try:
            for step in range(25):
                (service.start if (number + step) % 2 else service.stop)()
                assert len(looking()) <= 1
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=turn, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
        assert not thread.is_alive()
    assert not faults
    service.start()
    assert len(looking()) == 1
    assert service.wait(service.submit(spec(), make_notebook("1")).id, 180).state == "succeeded"
    service.stop()
    assert looking() == []
    other = open_service()  # the queue is free again
    other.start()
    assert other.wait(other.submit(spec(), make_notebook("1")).id, 180).state == "succeeded"


def test_a_thread_that_an_engine_keeps_is_neither_called_back_nor_overtaken(
    tmp_path: Path, spec: Any, make_notebook: Any
) -> None:
    hold, held = threading.Event(), threading.Event()

    class Slow(LocalEngine):
        """Takes long to fetch what a job left, as a daemon may."""

        def collect(self, job: Job, folder: JobFolder) -> None:
            held.set()
            hold.wait(30)
            super().collect(job, folder)

    settings = JobSettings(active_seconds=0.05, idle_seconds=0.1, wait_seconds=0.05)
    services = [JobService.open({"local": Slow()}, data_folder=tmp_path / "data", settings=settings) for _ in range(2)]
    for service in services:
        service._dispatcher = None
    first, second = services
    first.start()
    job = first.submit(spec(), make_notebook("1"))
    assert held.wait(30)
    first.stop(timeout=0.1)
    first.start()
    assert not second._lock.acquire(), "the one that leaves holds the queue until it is through"
    assert first.get(job.id).state in ("preparing", "running")
    hold.set()
    assert first.wait(job.id, 180).state == "succeeded"
    first.stop()
    assert second._lock.acquire()
    second._lock.release()


@pytest.mark.parametrize(("seconds", "successors"), [(3600.0, 0), (0.0, 1)])
def test_who_follows_a_job_starts_it_without_another_process(
    open_service: Any, spec: Any, make_notebook: Any, until: Any, seconds: float, successors: int
) -> None:
    """To start a dispatcher would take longer than to start the job; it stands by behind one that takes its time."""
    service = open_service(JobSettings(active_seconds=0.05, standby_seconds=seconds))
    spawned: list[float] = []
    service._dispatcher = lambda: spawned.append(seconds)
    service.attend()
    job = service.submit(spec(), make_notebook("print(1)"))
    assert service.wait(job.id, 180).state == "succeeded"
    assert len(spawned) == successors


def test_who_looks_after_the_queue_ends_with_its_folder(tmp_path: Path, spec: Any, make_notebook: Any) -> None:
    """A removed data folder has nobody left to ask for its jobs; a job that waits must not keep a process for ever."""
    settings = JobSettings(active_seconds=0.05, cpu_slots={"local": 0})
    service = JobService.open({"local": LocalEngine()}, data_folder=tmp_path / "removed", settings=settings)
    service.submit(spec(), make_notebook("print(1)"))
    looking = threading.Thread(target=service.run_until_idle, daemon=True)
    looking.start()
    looking.join(1)
    assert looking.is_alive(), "the job still waits"
    shutil.rmtree(service.store.path.parent)
    looking.join(60)
    assert not looking.is_alive()
