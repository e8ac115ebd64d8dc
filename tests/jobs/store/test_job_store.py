"""Several processes on one store: each change is made once, or not at all."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.domain.devices import DeviceShare
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.jobs.queueing import compared
from jupyter_paddle_gpu.jobs.store.job_store import JobStore

_change = msgspec.structs.replace


def job(job_id: str, token: str = "", **fields: Any) -> Job:
    spec = JobSpec(name="n", notebook="/n", output="/o", folder="/", engine="local", token=token)
    return Job(id=job_id, spec=spec, state="queued", created=1.0, updated=1.0, **fields)


def add_jobs(path: Path, worker: int, count: int) -> None:
    store = JobStore(path)
    for number in range(count):
        store.add(job(f"w{worker}-{number}", token=f"shared-{number}"))


def claim_jobs(path: Path, results: Any, worker: int) -> None:
    store = JobStore(path)
    won = [one.id for one in store.select() if claimed(store, one.id, worker)]
    results.put(won)


def claimed(store: JobStore, job_id: str, worker: int) -> bool:
    def make(now: Job) -> Job:
        if now.state != "queued":
            raise PaddleGpuError("bad_move", "taken")
        return _change(now, state="preparing", server_id=str(worker))

    try:
        store.change(job_id, make, claim=["gpu-0"])
    except PaddleGpuError as error:
        assert error.code in ("device_busy", "bad_move")
        return False
    return True


def take_turns(path: Path, count: int) -> None:
    store = JobStore(path)
    for _ in range(count):
        store.change("one", lambda now: _change(now, attempts=now.attempts + 1))


def test_submits_of_several_processes_meet_in_one_row_per_token(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add_jobs, args=(path, n, 25)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    found = JobStore(path).select()
    assert sorted(one.spec.token for one in found) == sorted(f"shared-{n}" for n in range(25))


def test_a_trial_of_a_sweep_is_not_the_last_run(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    store.add(job("by-hand"))
    trial = job("trial")
    store.add(_change(trial, spec=_change(trial.spec, trial=2)))
    assert [one.id for one in store.select(notebook="/n", limit=1)] == ["trial"]
    assert [one.id for one in store.select(notebook="/n", limit=1, trials=False)] == ["by-hand"]
    assert compared(store, trial.spec).differs_from == "by-hand"


def test_no_change_is_lost_between_processes(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    JobStore(path).add(job("one"))
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=take_turns, args=(path, 50)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert JobStore(path).get("one").attempts == 150


def test_device_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    store = JobStore(path)
    for number in range(5):
        store.add(job(f"j{number}"))
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=claim_jobs, args=(path, results, n)) for n in range(2)]
    for worker in workers:
        worker.start()
    won = [results.get(timeout=180) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(len(one) for one in won) == 1
    (winner,) = [one for one in store.select() if one.state == "preparing"]
    assert store.claims() == {"gpu-0": winner.id}
    store.change(winner.id, lambda now: _change(now, state="failed"))
    assert store.claims() == {}


def test_refused_claim_changes_nothing(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    store.add(job("a"))
    store.add(job("b"))
    store.change("a", lambda now: _change(now, state="preparing"), claim=["g0"])
    with pytest.raises(PaddleGpuError):
        store.change("b", lambda now: _change(now, state="preparing"), claim=["g1", "g0"])
    assert store.get("b").state == "queued" and store.claims() == {"g0": "a"}


def test_moves_follow_the_table(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    store.add(job("a"))
    with pytest.raises(PaddleGpuError) as refused:
        store.change("a", lambda now: _change(now, state="running"))
    assert refused.value.code == "bad_move"
    store.change("a", lambda now: _change(now, state="cancelled"))
    with pytest.raises(PaddleGpuError):
        store.change("a", lambda now: _change(now, state="queued"))


def test_changes_are_a_feed(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    start = store.revision()
    store.add(job("a"))
    store.add(job("b"))
    store.change("a", lambda now: _change(now, state="cancelled"))
    store.remove("a")
    feed = store.changes(start)
    assert ([one.id for one in feed.jobs], feed.deleted) == (["b"], ("a",))
    assert store.changes(feed.revision).jobs == ()
    store.change("b", lambda now: now)
    assert store.revision() == feed.revision, "nothing changed, nothing told"


def test_time_of_change_grows_though_the_clock_was_set_back(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    before = time.time() + 3600
    store.add(_change(job("a"), updated=before))
    first = store.change("a", lambda now: _change(now, attempts=1))
    second = store.change("a", lambda now: _change(now, attempts=2))
    assert before < first.updated < second.updated
    assert msgspec.json.decode(msgspec.json.encode(second), type=Job).updated == second.updated


def test_rows_survive_a_new_process(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    stored = JobStore(path).add(job("a", handle={"pid": 7, "more": [1, {"x": None}]}, started=time.time()))
    assert JobStore(path).get("a") == stored


def test_newer_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "jobs.sqlite"
    JobStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE numbers SET value = 99 WHERE name = 'schema'")
    with pytest.raises(PaddleGpuError) as refused:
        JobStore(path)
    assert refused.value.code == "store_newer"


def test_store_is_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "data" / "jobs.sqlite"
    JobStore(path)
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0


def test_shares_of_a_device_are_given_while_there_is_room(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")

    def take(name: str, size: int | None) -> str:
        shares = () if size is None else (DeviceShare(bytes=size, most=10, total=12),)
        try:
            store.change(name, lambda now: _change(now, state="preparing"), claim=("g0",), shares=shares)
        except PaddleGpuError as error:
            return error.code
        return "has"

    for name in "abcd":
        store.add(job(name))
    assert [take("a", 6), take("b", 5), take("c", None), take("d", 4)] == ["has", "device_busy", "device_busy", "has"]
    assert store.get("b").state == "queued"
    for name in "ad":
        store.change(name, lambda now: _change(now, state="failed"))
    assert (take("c", None), store.claims()) == ("has", {"g0": "c"})
    assert take("b", 1) == "device_busy"
