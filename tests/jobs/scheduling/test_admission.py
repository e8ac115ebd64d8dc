"""Quiet hours, devices of one user, longest wait."""

from __future__ import annotations

import time
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.admission import kept
from jupyter_paddle_gpu.jobs.scheduling.queue_view import BY_ITSELF, with_next_step
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings, SchedulerPolicy


def job(name: str, gpus: int = 1, owner: str = "ann", **fields: Any) -> Job:
    spec = JobSpec(name=name, notebook="/n", output="/o", folder="/", engine="docker", resources=Resources(gpus=gpus))
    return Job(id=name, spec=spec, state="queued", created=1000.0, updated=1000.0, owner=owner, **fields)


def at(hour: int, minute: int = 0) -> float:
    """A moment of some day at this time of the machine's own clock."""
    day = time.localtime(1_800_000_000)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, hour, minute, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("span", "hour", "minute", "quiet"),
    [
        ("22:00-06:00", 23, 0, True),
        ("22:00-06:00", 5, 59, True),
        ("22:00-06:00", 6, 0, False),
        ("22:00-06:00", 21, 59, False),
        ("12:00-13:30", 13, 29, True),
        ("12:00-13:30", 13, 30, False),
        ("9:00-9:00", 9, 0, False),
    ],
)
def test_in_quiet_hours_no_job_starts_on_a_device(span: str, hour: int, minute: int, quiet: bool) -> None:
    order = SchedulerPolicy(quiet_hours=(span,))
    found = kept(job("a"), order, at(hour, minute), {})
    assert (found is not None) == quiet
    assert found is None or (found.reason.code, found.hopeless) == ("waits_quiet", False)
    assert kept(job("cpu", gpus=0), order, at(hour, minute), {}) is None


def plan(jobs: list[Job], order: SchedulerPolicy, active: tuple[Job, ...] = ()) -> dict[str, tuple[bool, str, bool]]:
    devices = tuple(
        Device(id=f"g{n}", index=n, vendor="nvidia", name="A100", memory_free=100, memory_total=100) for n in range(8)
    )
    claims = {device: one.id for one in active for device in one.device_ids}
    turns = queue.turns(
        jobs,
        active,
        claims=claims,
        supply=lambda engine: Supply(devices=devices),
        settings=JobSettings(order=order),
        now=1010.0,
    )
    return {turn.job.id: (turn.start, turn.reason.code if turn.reason else "", turn.hopeless) for turn in turns}


def test_a_user_has_so_many_devices_at_once_and_nobody_waits_for_that_behind_them() -> None:
    order = SchedulerPolicy(quotas={"ann": 2, "*": 4})
    running = job("r", device_ids=("g0",))
    found = plan(
        [job("a"), job("b"), job("c", gpus=3), job("d", owner="bob", gpus=4), job("e", owner="bob")], order, (running,)
    )
    assert found == {
        "a": (True, "", False),
        "b": (False, "waits_quota", False),
        "c": (False, "quota_exceeded", True),
        "d": (True, "", False),
        "e": (False, "waits_quota", False),
    }


def test_who_waits_longer_than_the_policy_allows_is_told_so() -> None:
    order = SchedulerPolicy(timeout=5)
    assert plan([job("a"), job("again", attempts=1)], order) == {
        "a": (False, "waited_too_long", True),
        "again": (True, "", False),
    }
    assert plan([job("a")], SchedulerPolicy(timeout=60))["a"][0]


def test_without_rules_nothing_keeps_a_job() -> None:
    assert kept(job("a"), SchedulerPolicy(), at(3), {"ann": 100}) is None


def test_whoever_waits_is_told_what_to_do_next():
    far = queue.HELD
    assert with_next_step(far) == far
    assert with_next_step(None) is None
    without = queue._waits_slot(1, 0)
    assert not without.hint
    assert with_next_step(without).render_hint() == BY_ITSELF.render()
    quiet = kept(job("a"), SchedulerPolicy(quiet_hours=("22:00-06:00",), quotas={"*": 2}), at(23), {})
    full = kept(job("a"), SchedulerPolicy(quotas={"*": 2}), at(23), {"ann": 2.0})
    assert [bound.reason.hint[:19] for bound in (quiet, full)] == ["It starts by itself"] * 2
