"""Containers start in the order of the queue though they are prepared side by side and one of them takes long."""

from __future__ import annotations

import contextlib
import time
from itertools import pairwise

import pytest
from conftest import IMAGE, LIMIT, until
from docker.errors import ImageNotFound
from stand_ins.registry import Registry

from jupyter_paddle_gpu.domain.jobs.job import ENDED

WAITS = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"


def submit(place, **first):
    """Two jobs of one card each, of which the first one's comes up when `wake` says so; a server that comes up lets
    both go in one look."""
    late = {"STAND_IN_START_WHEN": str(place.work / "awake"), **first}
    return [place.submit(WAITS, gpus=1, environment=late), place.submit(WAITS, gpus=1)]


def wake(place):
    (place.work / "awake").touch()


def states(place, jobs):
    return [place.client.get(job).state for job in jobs]


def both_are_made(place, jobs):
    """Both containers are there: the first by the daemon's list, since to inspect one that starts takes until it has
    started; the second by its name as well, which the daemon knows a moment later than its list tells it."""
    return len(place.left()) == 2 and place.container(jobs[1]) is not None


def ended(place, jobs):
    wake(place)
    (place.work / "go").touch()
    return [place.client.wait(job, LIMIT) for job in jobs]


def both_run_in_order(place, jobs):
    """They come up one after the other, by the daemon's word and by the rows, and end well at the first attempt."""
    wake(place)
    until(lambda: states(place, jobs) == ["running", "running"])
    # ISO times with nanoseconds, whose texts are in the order of time
    first, second = (place.container(job)["State"]["StartedAt"] for job in jobs)
    assert first < second
    rows = ended(place, jobs)
    assert [(row.state, row.attempts) for row in rows] == [("succeeded", 1)] * 2
    assert rows[0].started < rows[1].started
    assert place.left() == []


def test_the_second_waits_until_the_first_container_has_started(place):
    jobs = submit(place)
    place.up(place.serve())
    until(lambda: both_are_made(place, jobs))
    time.sleep(0.5)  # for whoever would not wait
    assert states(place, jobs) == ["preparing", "preparing"], "made side by side"
    assert place.container(jobs[1])["State"]["Status"] == "created"
    both_run_in_order(place, jobs)


def test_a_server_killed_between_grant_and_start_leaves_the_order_to_the_next(place):
    jobs = submit(place)
    place.up(place.serve())
    until(lambda: both_are_made(place, jobs))
    place.kill()
    assert place.container(jobs[1])["State"]["Status"] == "created"
    place.up(place.serve())
    both_run_in_order(place, jobs)


def test_a_server_that_finds_containers_running_keeps_their_own_times(place):
    """Its predecessor had started both and told no row of it."""
    wake(place)
    jobs = submit(place)
    place.up(place.serve())
    until(lambda: states(place, jobs) == ["running", "running"])
    place.kill()
    seen = [place.client.engines["docker"].observe(place.client.get(job), place.client.folder_of(job)) for job in jobs]
    for job in jobs:  # as the rows were right before the starts
        forget(place, job)
    time.sleep(0.5)
    place.up(place.serve())
    until(lambda: states(place, jobs) == ["running", "running"])
    assert [place.client.get(job).started for job in jobs] == [one.started for one in seen]
    assert {row.state for row in ended(place, jobs)} == {"succeeded"}


def forget(place, job):
    """Write a row as it was while its job was being prepared (a move that the store does not allow)."""
    import msgspec

    row = msgspec.structs.replace(place.client.get(job), state="preparing", started=None, handle={})
    values = (row.state, msgspec.json.encode(row), job)
    place.client.store._database.write(
        lambda connection: connection.execute("UPDATE jobs SET state = ?, data = ? WHERE id = ?", values)
    )


@pytest.mark.parametrize("who", [0, 1])
def test_a_cancel_while_the_first_one_starts(place, who):
    """Of the one that starts, or of the one that waits for it: the other one runs, and nothing is left of this one."""
    jobs = submit(place)
    place.up(place.serve())
    until(lambda: both_are_made(place, jobs))
    place.client.cancel(jobs[who], force=True)
    if who == 1:
        until(lambda: place.client.get(jobs[1]).state == "cancelled")
        assert states(place, jobs) == ["preparing", "cancelled"], "it did not have to wait for the other one's start"
    rows = ended(place, jobs)
    assert [row.state for row in rows] == ["cancelled" if n == who else "succeeded" for n in range(2)]
    assert place.left() == []


def test_a_start_that_fails_lets_the_next_one_go(place):
    jobs = submit(place, STAND_IN_START_FAILS="1")
    place.up(place.serve())
    until(lambda: both_are_made(place, jobs))
    rows = ended(place, jobs)
    assert [row.state for row in rows] == ["failed", "succeeded"]
    assert rows[0].reason.code == "device_unknown"
    assert place.left() == []


def test_a_pull_holds_up_nobody(place):
    registry = Registry(archive=b"".join(place.api.get_image(IMAGE)), layers=2)
    registry.mood = "slow"
    try:
        first = place.submit("1", image=registry.image, gpus=1)
        others = [place.submit("1", gpus=1) for _ in range(3)]
        place.up(place.serve())
        rows = [place.client.wait(job, LIMIT) for job in others]
        pulls = place.client.get(first)
        assert (pulls.state, pulls.reason.code) == ("preparing", "pulling"), "it pulls still"
        assert {row.state for row in rows} == {"succeeded"}
        assert all(early.started < late.started for early, late in pairwise(rows))
        registry.mood = "ok"
        assert place.client.wait(first, LIMIT).state in ENDED
        assert place.client.get(first).state == "succeeded"
    finally:
        registry.close()
        with contextlib.suppress(ImageNotFound):
            place.api.remove_image(registry.image, force=True)
