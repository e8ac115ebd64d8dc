"""A disk that a job fills while the store lies on it, and memory that is full and looks like a disk: a real daemon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import LIMIT, until
from place import Place
from server import DISK_BYTES, DISK_PATIENCE
from stand_ins.daemon import PrivateDaemon

FILL = """
import os, time
file = os.open(os.path.join(os.environ["PADDLE_GPU_CHECKPOINTS"], "model"), os.O_WRONLY | os.O_CREAT)
def fill():
    while True:
        os.write(file, bytes(65536))
"""
GREEDY = (
    FILL
    + """
print("begun", flush=True)
while True:
    try:
        fill()
    except OSError:
        time.sleep(0.002)
"""
)
"""Takes every byte that becomes free, as a training does that goes on when it cannot save."""


@pytest.fixture
def small(daemon: PrivateDaemon, small_disk: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Store, jobs and notebooks on a disk of 24 MiB."""
    monkeypatch.setenv(DISK_BYTES, "0")
    made = Place(small_disk(24), daemon.host)
    yield made
    made.close()


def test_a_job_that_fills_the_disk_of_the_store(small: Place) -> None:
    small.up(small.serve())
    job = small.submit("print('first')", FILL + "fill()")
    ended = small.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "disk_full")
    assert small.lines(job) == ["first"] and small.left() == []
    small.client.delete(job)
    assert not small.client.folder_of(job).path.exists()
    again = small.client.wait(small.submit("print('space again')"), LIMIT)
    assert again.state == "succeeded"


def test_while_it_lasts_the_row_says_so_and_a_cancel_works(small: Place) -> None:
    small.up(small.serve())
    old = small.client.wait(small.submit("1"), LIMIT)
    job = small.submit(GREEDY)
    row = until(lambda: (now := small.client.get(job)).reason and now.state == "running" and now)
    assert row.reason.code == "waits_for_space"
    assert str(small.client.folder_of(job).path) in row.reason.render()
    small.client.delete(old.id)
    small.client.cancel(job)
    ended = small.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("cancelled", "cancelled")
    small.client.delete(job)
    assert small.client.list() == () and small.left() == []


def test_what_the_runner_ends_for_want_of_space_is_told_so(small: Place) -> None:
    """It waits, in which whoever frees some lets the job go on; then it ends it. A server that comes up only then, on
    the full disk, reads the same."""
    server = small.serve({DISK_PATIENCE: "10"})
    small.up(server)
    job = small.submit(GREEDY.replace("time.sleep(0.002)", "print('x' * 1000); time.sleep(0.002)"))
    until(lambda: small.client.get(job).state == "running" and small.client.get(job).reason)
    small.kill()
    until(lambda: not small.container(job)["State"]["Running"])
    filler = small.data / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))  # and somebody else takes what the job has left
    small.up(small.serve())
    ended = small.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "disk_full")
    small.client.delete(job)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("open('/dev/shm/batches', 'wb').write(bytes(100 << 20))", "shared_memory_full"),
        (
            "from multiprocessing.shared_memory import SharedMemory\n"
            "block = SharedMemory(create=True, size=100 << 20)\nblock.buf[:] = bytes(100 << 20)",
            "shared_memory_full",
        ),
        (
            "import os\ntry:\n    open('/dev/shm/x', 'wb').write(bytes(100 << 20))\nexcept OSError:\n"
            "    raise OSError(28, 'No space left on device') from None",
            "shared_memory_full",
        ),
        ("open('/tmp/table', 'wb').write(bytes(300 << 20))", "temporary_full"),
    ],
)
def test_memory_that_is_full_is_not_told_as_a_disk(place: Place, cell: str, code: str) -> None:
    place.up(place.serve())
    ended = place.client.wait(place.submit(cell), LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", code), ended.reason
    assert "delete" not in ended.reason.render_hint()
