"""The fault table's row “somebody sets the clock”: by hours, in mid-run, under server and container.

The machine's own clock stays as it is: a preloaded library shifts the wall clock of these processes alone.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import IMAGE, LIMIT, until
from place import COUNT, GATE
from stand_ins.registry import Registry

HOUR = 3600
SECONDS = 600.0
"""The limit of a job that is to come to its end: far more than it takes, far less than the clock is set by."""


class Clock:
    """What shifts the clock of a server (its environment) and of jobs (their image)."""

    def __init__(self, api, work: Path) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        assert compiler, "a C compiler (gcc) is needed to build the stand-in for the clock"
        self.offset, library = work / "offset", work / "clock.so"
        source = Path(__file__).parents[1] / "stand_ins" / "clock.c"
        subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source], check=True)
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(self.offset)}
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(library, arcname="clock.so")
        made = api.create_container(IMAGE, ["true"])
        api.put_archive(made, "/lib", archive.getvalue())
        self.image = "stand-in/clock:1"
        variables = [f"ENV LD_PRELOAD=/lib/clock.so CLOCK_OFFSET={self.offset}"]
        api.commit(made, "stand-in/clock", "1", changes=variables)
        api.remove_container(made)

    def set(self, seconds: int) -> None:
        """So many seconds later (earlier) than it is."""
        self.offset.write_text(str(seconds))


@pytest.fixture
def clock(place):
    api = place.api
    made = Clock(api, place.work)
    yield made
    place.close()
    api.remove_image(made.image, force=True)


@pytest.mark.parametrize("hours", [3, -3])
def test_the_clock_is_set_in_mid_run(place, clock, hours):
    """The server that saw the job start and one that comes up afterwards; a limit of minutes is none of hours."""
    place.up(place.serve(clock.environment))
    job = place.submit(
        COUNT.format(n=11, pause=0.02), GATE, COUNT.format(n=150, pause=0.02), image=clock.image, seconds=SECONDS
    )
    until(lambda: len(place.lines(job)) == 11)
    clock.set(hours * HOUR)
    place.go()
    until(lambda: len(place.lines(job)) > 40)
    place.kill()
    place.up(place.serve(clock.environment))
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.attempts) == ("succeeded", 1), ended.reason
    assert place.lines(job) == [f"line {n}" for n in (*range(11), *range(150))]
    page = place.client.log(job)
    assert [line.seq for line in page.lines] == list(range(page.total))
    times = [line.time for line in page.lines if line.stream == "stdout"]
    assert max(times) - min(times) > 2 * HOUR, "the clock was set indeed"
    assert 3 <= ended.result.seconds < SECONDS
    assert 3 <= ended.ended - ended.started < SECONDS, "the row tells how long it ran"
    assert place.left() == []


def test_a_limit_is_kept_though_the_clock_is_set_back(place, clock):
    place.up(place.serve(clock.environment))
    job = place.submit(COUNT.format(n=10_000, pause=0.02), image=clock.image, seconds=10.0)
    until(lambda: len(place.lines(job)) > 10)
    clock.set(-3 * HOUR)
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "time_limit")
    assert place.left() == []


def test_the_next_attempt_comes_though_the_clock_is_set_back(place, clock):
    registry = Registry()
    try:
        registry.mood = "busy"
        job = place.submit("1", image=registry.image)
        place.up(place.serve(clock.environment, retry_seconds=10.0))
        waits = until(lambda: (row := place.client.get(job)).not_before is not None and row)
        assert (waits.state, waits.attempts, waits.reason.code) == ("queued", 1, "pull_interrupted")
        clock.set(-3 * HOUR)
        assert until(lambda: place.client.get(job).attempts > 1)
        place.client.cancel(job)
        place.client.wait(job, LIMIT)
    finally:
        registry.close()
