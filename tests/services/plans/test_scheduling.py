"""Schedules by a clock that a test sets: each date runs once, whoever is killed when."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.plans.wanted import ScheduleRequest

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
NIGHTLY = {"cron": "0 2 * * *", "zone": "Europe/Berlin"}
NIGHT, DAY = 14 * 3600.0, 86400.0


@pytest.fixture
def clock(tmp_path):
    """Sets what time it is for everybody on this data folder."""
    (tmp_path / "data").mkdir(exist_ok=True)

    def show(moment: float) -> None:
        (tmp_path / "data" / "next").write_text(repr(moment))
        (tmp_path / "data" / "next").replace(tmp_path / "data" / "clock")

    show(NOON)
    return show


@pytest.fixture
def plan(person, notebook):
    def make(code="print(1)", **wanted):
        source = person.open(notebook(code))
        return person.plans.schedules.create(source, ScheduleRequest(**wanted))

    return make


@pytest.fixture
def look(person):
    return person.plans._schedule_tender.look


def test_a_moment_runs_once_and_is_done(person, plan, clock, look):
    made = plan(at="+2h")
    assert made.dates == (NOON + 7200,)
    assert look() == NOON + 7200
    assert not person.jobs.list()
    clock(NOON + 7201)
    assert look() is None
    look()
    (job,) = person.jobs.list()
    now = person.plans.schedules.get(made.id)
    assert (now.state, now.runs, now.last.job_id, now.note, job.spec.plan) == ("done", 1, job.id, None, made.id)


def test_every_night_runs_every_night(person, plan, clock, look):
    made = plan(**NIGHTLY)
    assert made.dates == (NOON + NIGHT, NOON + NIGHT + DAY, NOON + NIGHT + 2 * DAY)
    for night in range(3):
        clock(NOON + NIGHT + night * DAY + 5)
        look()
        look()
        assert len(person.jobs.list()) == night + 1
    now = person.plans.schedules.get(made.id)
    assert (now.state, now.runs, now.note, now.dates[0]) == ("active", 3, None, NOON + NIGHT + 3 * DAY)


def test_nights_that_were_slept_through_are_told_and_run_once(person, plan, clock, look):
    made = plan(**NIGHTLY)
    clock(NOON + NIGHT + 2 * DAY + 3600)
    look()
    look()
    now = person.plans.schedules.get(made.id)
    assert (len(person.jobs.list()), now.last.missed, now.note.code) == (1, 3, "schedule_missed")
    assert "3 dates passed" in now.note.render()
    assert now.dates[0] == NOON + NIGHT + 3 * DAY
    clock(NOON + NIGHT + 3 * DAY + 1)
    look()
    assert person.plans.schedules.get(made.id).note is None, "it ran in time"


def test_paused_deleted_and_restored(person, plan, clock, look):
    schedules = person.plans.schedules
    made = plan(**NIGHTLY)
    assert schedules.pause(made.id).state == "paused"
    clock(NOON + NIGHT + DAY + 3600)
    look()
    assert not person.jobs.list()
    resumed = schedules.resume(made.id)
    assert (resumed.state, resumed.dates[0]) == ("active", NOON + NIGHT + 2 * DAY), "what passed was not to run"
    schedules.delete(made.id)
    assert (schedules.list(), look()) == ((), None)
    assert schedules.restore(made.id).state == "active"
    assert [one.id for one in schedules.list()] == [made.id]
    schedules.pause(made.id)
    schedules.delete(made.id)
    assert schedules.restore(made.id).state == "paused", "as it was"
    schedules.delete(made.id)
    clock(NOON + 30 * DAY)
    look()
    with pytest.raises(PaddleGpuError, match="no schedule"):
        schedules.restore(made.id)


def test_a_run_takes_the_notebook_as_it_is_then_or_as_it_was(person, plan, clock, look, notebook):
    plan("print('old')", at="+1h")
    plan("print('old')", at="+1h", source="saved")
    notebook("print('new')")
    clock(NOON + 3601)
    look()
    sources = sorted("new" in person.jobs.source(job.id).decode() for job in person.jobs.list())
    assert sources == [False, True]


def test_a_notebook_that_is_gone_is_told_and_the_next_night_is_tried_again(person, plan, clock, look, notebook):
    made = plan(**NIGHTLY)
    path = notebook("print(1)")
    path.unlink()
    clock(NOON + NIGHT + 1)
    look()
    now = person.plans.schedules.get(made.id)
    assert (now.runs, now.note.code, now.state) == (0, "schedule_refused", "active")
    notebook("print(1)")
    clock(NOON + NIGHT + DAY + 1)
    look()
    assert (person.plans.schedules.get(made.id).runs, len(person.jobs.list())) == (1, 1)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({}, "schedule_unclear"),
        ({"at": "+1h", "cron": "* * * * *"}, "schedule_unclear"),
        ({"at": "never"}, "moment_wrong"),
        ({"cron": "0 26 * * *"}, "cron_wrong"),
        ({"cron": "0 2 * * *", "zone": "Nowhere"}, "zone_unknown"),
        ({"free": "7"}, "device_unknown"),
        ({"below": 2.0}, "cost_none"),
        ({"at": "+1h", "submission": Submission(engine="mars")}, "unknown_engine"),
    ],
)
def test_what_cannot_be_scheduled_is_refused_at_once(person, plan, clock, wanted, code):
    with pytest.raises(PaddleGpuError) as refusal:
        plan(**wanted)
    assert refusal.value.code == code
    assert not person.plans.schedules.list()


@pytest.mark.parametrize("place", ["before_submit", "after_submit"])
def test_killed_at_its_date_it_runs_once(person, plan, clock, look, tmp_path, place):
    plan(**NIGHTLY)
    clock(NOON + NIGHT + 1)
    program = f"""
import os, signal
from pathlib import Path
from jupyter_paddle_gpu.services import Services, Settings
def die(): os.kill(os.getpid(), signal.SIGKILL)
class Dying(Services):
    def submit(self, *arguments, **options):
        if {place!r} == "before_submit": die()
        super().submit(*arguments, **options)
        die()
data = Path({str(tmp_path / "data")!r})
services = Dying(Settings(data_folder=data, policy_file=None, clock=lambda: float((data / "clock").read_text())))
services.jobs._dispatcher = None
services.plans._schedule_tender.look()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert len(person.jobs.list()) == (place == "after_submit")
    look()
    look()
    (job,) = person.jobs.list()
    (now,) = person.plans.schedules.list()
    assert (now.runs, now.last.job_id) == (1, job.id)


def test_a_date_that_came_after_a_kill_runs_too(person, plan, clock, look, tmp_path):
    """The process dies after it submitted the first night's job, before the row says so; then comes the second."""
    plan(**NIGHTLY)
    clock(NOON + NIGHT + 1)
    tender = person.plans._schedule_tender
    store, change = tender._schedules.store, type(tender._schedules.store).change
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(store), "change", lambda self, plan_id, make: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            look()
    assert type(store).change is change
    clock(NOON + NIGHT + DAY + 1)
    look()
    (now,) = person.plans.schedules.list()
    assert (now.runs, len(person.jobs.list()), now.last.missed) == (2, 2, 0)


def test_a_server_that_is_killed_leaves_it_to_the_next(person, plan, clock, server, until):
    plan(**NIGHTLY)
    first = server()
    clock(NOON + NIGHT + 1)
    until(lambda: len(person.jobs.list()) == 1)
    first.kill()
    clock(NOON + NIGHT + DAY + 1)
    server()
    until(lambda: len(person.jobs.list()) == 2)
    until(lambda: person.plans.schedules.list()[0].runs == 2)
    until(lambda: all(job.state == "succeeded" for job in person.jobs.list()))


def test_when_a_device_is_free(person, server, notebook, two_cards, until, tmp_path):
    """A card that a job has; the other's is in the queue at once, and runs on that card when the first has ended."""
    begin = """
import sys
from jupyter_paddle_gpu.domain.jobs.job import WantedResources
from jupyter_paddle_gpu.services import Services, Submission
from jupyter_paddle_gpu.services.plans.wanted import ScheduleRequest
services = Services()
services.jobs._dispatcher = None
source = services.open(sys.argv[1])
first = services.submit(source, Submission(engine="local", resources=WantedResources(gpus=1, device_ids=("1",))))
request = ScheduleRequest(free="1", submission=Submission(engine="local"))
print(services.plans.schedules.create(source, request).id, first.id)
"""
    path = notebook("import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)")
    server()
    made = subprocess.run([sys.executable, "-c", begin, str(path)], env=two_cards, check=True, capture_output=True)
    schedule, first = made.stdout.decode().split()
    until(lambda: person.jobs.get(first).state == "running")
    until(lambda: person.plans.schedules.get(schedule).state == "done")
    job = person.jobs.get(person.plans.schedules.get(schedule).last.job_id)
    assert job.spec.resources.device_ids == ("GPU-1",)
    place = until(lambda: person.jobs.get(job.id).place)
    assert (job.state, place.number) == ("queued", 1)
    (tmp_path / "work" / "go").touch()
    until(lambda: person.jobs.get(job.id).state == "succeeded")


def test_a_dispatcher_without_a_server_waits_for_it(tmp_path, notebook, until):
    """As the command line leaves it: nobody else is there, the process waits, and goes when nothing is left."""
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=None))
    services.plans.schedules.create(services.open(notebook("print(1)")), ScheduleRequest(at="+2s"))
    until(lambda: [job.state for job in services.jobs.list()] == ["succeeded"])
    services.close()
