"""Many jobs while servers and daemon are killed at random and people change their minds: nothing lost, nothing left."""

from __future__ import annotations

import random
import time

import pytest
from conftest import LIMIT
from place import Place

from jupyter_paddle_gpu.domain.jobs.job import ENDED
from jupyter_paddle_gpu.engines.processes import processes_of

JOBS = 14
SECONDS = 9.0
"""How long things go wrong for; then everything is left alone until all has ended."""
CELL = """
import time
with open("{n}.ran", "a") as file:
    file.write("x")
for line in range({lines}):
    print("line", line, flush=True)
    time.sleep(0.02)
{last}
"""
DAEMON = {"terminated", "killed", "runner_vanished", "container_lost"}
"""What becomes of a job that ran when its daemon was killed; one that had not begun waits until it is back."""


@pytest.mark.parametrize("seed", [1])
def test_a_storm(own_daemon, tmp_path, seed):
    place, dice = Place(tmp_path, own_daemon.host), random.Random(seed)
    try:
        jobs = submit(place, dice)
        cancelled, daemons = storm(place, own_daemon, dice, list(jobs))
        place.up(place.serve())
        rows = {job: place.client.wait(job, LIMIT) for job in jobs}
        assert {row.state for row in rows.values()} <= ENDED, [row for row in rows.values() if row.state not in ENDED]
        for job, (n, lines, raises) in jobs.items():
            row, printed = rows[job], place.lines(job)
            ran = (place.work / f"{n}.ran").read_text() if (place.work / f"{n}.ran").exists() else ""
            assert ran in ("", "x"), f"{job} ran {len(ran)} times"
            assert printed == [f"line {line}" for line in range(len(printed))], "none lost, none twice"
            match row.state:
                case "succeeded":
                    assert (ran, len(printed), raises) == ("x", lines, False)
                case "cancelled":
                    assert job in cancelled
                case _:
                    expected = {"cell_error"} if raises else set()
                    assert row.reason.code in expected | (DAEMON if daemons else set()), (job, row.reason)
        assert {row.state for row in rows.values()} >= {"succeeded"}, "most of it goes well all the same"
        assert place.left() == []
        assert [process for job in jobs for process in processes_of(job)] == [], "nothing runs that Docker forgot"
        assert place.client.store.claims() == {}
    finally:
        place.close()


def submit(place, dice):
    """Job -> its number, how many lines it prints, whether it fails."""
    jobs = {}
    for n in range(JOBS):
        lines, raises = dice.randrange(1, 60), dice.random() < 0.15
        cell = CELL.format(n=n, lines=lines, last="raise ValueError(1)" if raises else "")
        jobs[place.submit(cell, gpus=dice.choice((0, 1, 1, 1)))] = (n, lines, raises)
    return jobs


def storm(place, daemon, dice, jobs):
    """Kill one of two servers, the daemon, or a job's wish to go on, at random; the cancelled jobs and how often."""
    cancelled, daemons, end = set(), 0, time.monotonic() + SECONDS
    servers = [place.serve(), place.serve()]
    while time.monotonic() < end:
        time.sleep(dice.uniform(0.1, 1.2))
        match dice.choice(("server", "server", "cancel", "cancel", "cancel", "daemon")):
            case "server":
                one = dice.randrange(2)
                servers[one].kill()
                servers[one].wait()
                place.servers.remove(servers[one])
                servers[one] = place.serve()
            case "cancel":
                job = dice.choice(jobs)
                place.client.cancel(job, force=dice.random() < 0.3)
                cancelled.add(job)
            case "daemon" if daemons < 2:
                daemon.kill()
                time.sleep(dice.uniform(0.0, 1.0))
                daemon.start()
                daemons += 1
    place.kill()
    return cancelled, daemons
