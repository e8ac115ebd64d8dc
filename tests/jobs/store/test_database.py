"""A store whose disk is full: rows can be changed, and space that comes back makes the reserve whole."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.jobs.store import database
from jupyter_paddle_gpu.jobs.store.database import RESERVE_BYTES
from jupyter_paddle_gpu.jobs.store.job_store import JobStore

_change = msgspec.structs.replace

GREEDY = """
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
told = False
while True:
    try:
        os.write(file, bytes(4096))
    except OSError:
        if not told:
            print("full", flush=True)
            told = True
        time.sleep(0.001)
"""
"""Takes every byte of a disk, and each that becomes free, for as long as it lives."""


@contextmanager
def greedy(folder: Path) -> Iterator[Path]:
    """A disk on which somebody takes every byte."""
    filler = folder / "filler"
    process = subprocess.Popen([sys.executable, "-c", GREEDY, str(filler)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "full\n"
        yield filler
    finally:
        process.kill()
        process.wait()


def job(job_id: str, state: Any = "queued") -> Job:
    spec = JobSpec(name="n", notebook="/n", output="/o", folder="/", engine="local")
    return Job(id=job_id, spec=spec, state=state, created=1.0, updated=1.0)


def test_a_full_disk_keeps_no_row_from_its_end(
    small_disk: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "REFILL_SECONDS", 0.0)  # as one who has it open for longer
    disk = small_disk(8)
    store = JobStore(disk / "jobs.sqlite")
    for number in range(30):
        store.add(job(f"j{number}"))
    (disk / "jobs.reserve").unlink()  # it is not needed for this
    monkeypatch.setattr(database, "REFILL_SECONDS", 1e9)
    with greedy(disk):
        for number in range(30):
            store.change(f"j{number}", lambda now: _change(now, state="cancelled", reason=reasons.cancelled()))
        for number in range(15):
            store.remove(f"j{number}")
        other = JobStore(disk / "jobs.sqlite")  # a command in another terminal
        assert {one.id for one in other.select()} == {f"j{number}" for number in range(15, 30)}
        other.close()
    assert all(one.state == "cancelled" for one in store.select())


def test_the_first_one_who_comes_to_a_full_disk(small_disk: Callable[[int], Path]) -> None:
    """Nobody has the file open: SQLite needs a new journal and its index."""
    disk = small_disk(8)
    store = JobStore(disk / "jobs.sqlite")
    store.add(job("one"))
    store.close()
    with greedy(disk):
        again = JobStore(disk / "jobs.sqlite")
        again.change("one", lambda now: _change(now, state="cancelled"))
        again.remove("one")
        assert again.select() == ()


def test_without_any_space_the_answer_is_a_sentence(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(8)
    store = JobStore(disk / "jobs.sqlite")
    store.add(job("one"))
    (disk / "jobs.reserve").unlink()
    with greedy(disk), pytest.raises(PaddleGpuError) as caught:
        for number in range(10_000):
            store.add(job(f"more{number}"))
    assert (caught.value.code, caught.value.status) == ("disk_full", 507)
    assert str(disk) in str(caught.value)
    assert store.get("one").state == "queued", "what is there can be read"


def test_the_reserve_is_made_whole_again(small_disk: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    disk = small_disk(12)
    store = JobStore(disk / "jobs.sqlite")
    reserve = disk / "jobs.reserve"
    store.add(job("first"))
    assert reserve.stat().st_size == RESERVE_BYTES
    with greedy(disk) as filler:
        number = 0
        while reserve.stat().st_size == RESERVE_BYTES:
            store.add(job(f"j{(number := number + 1)}"))
        assert reserve.stat().st_size < RESERVE_BYTES
    filler.unlink()
    monkeypatch.setattr(database, "REFILL_SECONDS", 0.0)
    store.add(job("last"))
    assert reserve.stat().st_size == RESERVE_BYTES


def test_two_who_open_a_new_store_at_once_both_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite refuses one of them the change to a write-ahead log, and does not wait however long it was told to."""
    file = tmp_path / "jobs.sqlite"
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("CREATE TABLE spare (data BLOB)")
    other.execute("BEGIN")
    other.execute("SELECT * FROM spare").fetchall()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(path, **{**options, "timeout": 0}))
    refused = []

    def sleep(seconds: float) -> None:
        refused.append(seconds)
        other.execute("ROLLBACK")

    monkeypatch.setattr(database, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    store = JobStore(file)
    assert len(refused) == 1 and store.select() == ()
    store.close()
    other.close()
