"""The job service on a real daemon: leftovers of a crash, and faults that pass against faults that do not."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from types import SimpleNamespace

import msgspec
import pytest
from conftest import IMAGE, LIMIT, notebook_of, until
from docker.errors import ImageNotFound
from stand_ins.registry import Registry

from jupyter_paddle_gpu.domain.devices import Device, DeviceProcess, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources
from jupyter_paddle_gpu.engines.capabilities import Sweeper
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.processes import processes_of
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.services.jobs.viewing import open_viewer

FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, wait_seconds=0.05, retry_seconds=0.5)
LATER = dataclasses.replace(FAST, retry_seconds=3600.0, retry_most_seconds=3600.0)
"""The next attempt comes when `try_again` says so, and not while a test looks at the row that waits for it."""


@pytest.fixture
def service(bench, tmp_path):
    """A service whose jobs lie where the bench's engine looks for them; not started."""
    made = JobService.open({"docker": bench.engine}, data_folder=tmp_path, settings=FAST)
    made._dispatcher = None
    yield made
    made.stop()


@pytest.fixture
def patient(bench, tmp_path):
    """A service that tries again when it is told to; not started."""
    made = JobService.open({"docker": bench.engine}, data_folder=tmp_path, settings=LATER)
    made._dispatcher = None
    yield made
    made.stop()


def try_again(service, job_id):
    """The wait for the next attempt is over."""
    service.store.change(job_id, lambda now: msgspec.structs.replace(now, not_before=time.time()))


@pytest.fixture
def registry():
    made = Registry()
    yield made
    made.close()


def spec(bench, **fields):
    given = {"image": IMAGE, "resources": Resources(memory_bytes=1 << 30), **fields}
    notebook, output = str(bench.work / "a.ipynb"), str(bench.work / "out.ipynb")
    return JobSpec(name="a", notebook=notebook, output=output, folder=str(bench.work), engine="docker", **given)


def content():
    return json.dumps(notebook_of("print('ran')"))


def test_leftovers_go_when_somebody_begins_to_look_after_the_jobs(bench, service, make_bench):
    other = make_bench()
    theirs, their_folder = other.job("1")
    other.run(theirs, their_folder)
    lost, folder = bench.job("1")  # in the engine's folder and in no row
    bench.run(lost, folder)
    kept = service.submit(spec(bench), content())
    assert isinstance(bench.engine, Sweeper)
    service.start()
    until(lambda: bench.engine.daemon.inspect_container(container_name(lost.id)) is None)
    assert service.wait(kept.id, LIMIT).state == "succeeded"
    assert other.engine.observe(theirs, their_folder).state == "ended", "another store's container stays"


def test_time_left_of_a_container_is_read_from_what_it_prints(bench, service):
    lines = "import time\nfor n in range(100):\n    print(f'epoch {n}/100 loss {1 / (n + 1)}')\n    time.sleep(0.5)"
    job = service.submit(spec(bench), json.dumps(notebook_of("1", lines)))
    service.start()
    progress = until(lambda: (row := service.get(job.id).progress).seconds_left is not None and row)
    assert 0 < progress.seconds_left < 500
    assert (progress.epochs, progress.cells_done, progress.cells_total) == (100, 1, 2)
    service.cancel(job.id, force=True)
    service.wait(job.id, LIMIT)


PROGRAM = """
import contextlib, os, sys, time
with contextlib.ExitStack() as files:
    for folder in sys.argv[1:]:
        os.makedirs(folder, exist_ok=True)
        files.enter_context(open(f"{folder}/events.out.tfevents.1", "w"))
    while not os.path.exists("go"):
        time.sleep(0.02)
"""


def test_event_files_are_found_where_they_lie_outside_the_container(bench, service, tmp_path):
    """Below a link as its folder lies behind it; not by what a file of the host is called that it never saw."""
    by_link, foreign = tmp_path / "by a link", tmp_path / "foreign"
    by_link.symlink_to(bench.work)
    foreign.mkdir()
    (foreign / "events.out.tfevents.1").touch()
    (bench.work / "program.py").write_text(PROGRAM)
    (bench.work / "out").symlink_to(foreign)
    call = "import subprocess, sys\nsubprocess.run([sys.executable, 'program.py', 'runs/a', 'runs/b', '/tmp/hidden'])"
    wanted = msgspec.structs.replace(spec(bench), folder=str(by_link), notebook=str(by_link / "a.ipynb"))
    job = service.submit(wanted, json.dumps(notebook_of(call)))
    service.start()
    told = until(lambda: len(row := service.get(job.id).progress.event_files) == 3 and {one.folder for one in row})
    (bench.work / "go").touch()
    assert service.wait(job.id, LIMIT).state == "succeeded", bench.explain(job, service.folder_of(job.id))
    assert told == {f"{by_link}/runs/a", f"{by_link}/runs/b", "/tmp/hidden"}
    for inside, outside in {
        f"{by_link}/runs/a": bench.work / "runs" / "a",
        f"{service.folder_of(job.id).path}/x": service.folder_of(job.id).path / "x",
        "/tmp/hidden": None,
        str(foreign): None,
        f"{by_link}/out": None,
        f"{by_link}/../foreign": None,
    }.items():
        assert service.on_host(job, inside) == outside, inside
    opened = []
    viewers = SimpleNamespace(open=lambda *_, folder, **__: opened.append(folder))
    open_viewer(service, viewers, job.id, "tensorboard", "/")
    assert opened == [bench.work / "runs"]


def test_statistics_with_the_drivers_figures_for_the_containers_processes(bench, tmp_path):
    """The driver names processes by the host's numbers, as `docker top` does."""

    def inventory():
        ours = [process.pid for job in service.list() for process in processes_of(job.id)]
        held = [DeviceProcess(pid=pid, memory_bytes=1 << 30, utilization=20) for pid in ours]
        others = [DeviceProcess(pid=1, memory_bytes=7 << 30, utilization=70)]
        card = Device(
            id="GPU-fake-0", index=0, vendor="nvidia", name="Stand-in", memory_total=16 << 30, memory_used=9 << 30,
            memory_free=7 << 30, utilization=90, temperature=60, power=200.0, processes=(*held, *others),
        )  # fmt: skip
        host = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=16 << 30, memory_available=16 << 30)
        return Inventory(time=time.time(), host=host, devices=(card,))

    service = JobService.open(
        {"docker": bench.engine},
        data_folder=tmp_path,
        settings=dataclasses.replace(FAST, statistics_least_seconds=0.1),
        inventory=inventory,
    )
    wait = "import time, pathlib\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    job = service.submit(
        spec(bench, resources=Resources(gpus=1, memory_bytes=1 << 30)), json.dumps(notebook_of("1", wait))
    )
    service.start()
    try:
        until(lambda: service.statistics(job.id).summary.samples > 2)
        (bench.work / "go").touch()
        ended = service.wait(job.id, LIMIT)
    finally:
        service.stop()
    assert ended.state == "succeeded"
    summary = ended.result.statistics
    assert summary.memory_peak_bytes > 1 << 20
    assert summary.cpu_seconds > 0
    (device,) = summary.devices
    assert device.memory_peak_bytes % (1 << 30) == 0
    assert 1 << 30 <= device.memory_peak_bytes < 7 << 30, "processes of others do not count"
    assert device.memory_peak_bytes == device.processes_peak << 30
    assert device.process_utilization_mean_percent <= 100
    assert (device.utilization_mean_percent, device.device_memory_peak_bytes) == (90.0, 9 << 30)
    assert (device.temperature_peak_celsius, device.power_mean_watts) == (60, 200.0)


@pytest.fixture
def runnable(bench):
    """A registry whose image can run a job."""
    made = Registry(archive=b"".join(bench.api.get_image(IMAGE)), layers=1)
    yield made
    made.close()
    with contextlib.suppress(ImageNotFound):
        bench.api.remove_image(made.image, force=True)


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        ("busy", "rate limit"),  # 429
        ("down", "503"),
        ("broken", "the connection broke off"),  # in the middle of a layer; Docker itself tries twice first
    ],
)
def test_a_pull_that_breaks_is_tried_again_and_the_job_succeeds(bench, patient, runnable, mood, words):
    service, runnable.mood = patient, mood
    job = service.submit(spec(bench, image=runnable.image), content())
    service.start()
    waits = until(lambda: (row := service.get(job.id)).not_before is not None and row)
    assert (waits.state, waits.attempts, waits.reason.code) == ("queued", 1, "pull_interrupted")
    assert "attempt 2 of 3" in waits.reason.render_hint()
    time.sleep(3 * FAST.active_seconds)
    assert service.get(job.id).reason == waits.reason, "the fault stays readable until the next attempt"
    runnable.mood = "ok"
    try_again(service, job.id)
    ended = service.wait(job.id, LIMIT)
    assert (ended.state, ended.attempts) == ("succeeded", 2), ended.reason
    lines = [line.text for line in service.log(job.id).lines]
    assert any(words in line for line in lines), lines
    assert any("attempt 2 of 3" in line for line in lines)
    assert lines.count("ran") == 1
    assert bench.engine.adopt() == {}


def test_a_pull_that_is_cancelled_leaves_nothing(bench, service, runnable):
    runnable.mood = "stuck"
    job = service.submit(spec(bench, image=runnable.image), content())
    service.start()
    row = until(lambda: (now := service.get(job.id)).reason and "left" in now.reason.params and now)
    assert (row.state, row.reason.code) == ("preparing", "pulling"), "the row says how far the pull is"
    assert row.reason.params["layers"] == 2
    assert 0 <= float(row.reason.params["now"]) < float(row.reason.params["total"])
    assert any(" layers, " in line.text for line in service.log(job.id).lines)
    service.cancel(job.id)
    ended = service.wait(job.id, LIMIT)
    assert (ended.state, ended.reason.code, ended.attempts) == ("cancelled", "cancelled", 1)
    assert bench.engine.adopt() == {}
    assert bench.engine.daemon.inspect_image(runnable.image) is None
    asked = len(runnable.requests)
    time.sleep(1)
    assert len(runnable.requests) == asked, "the daemon has stopped, too"


def test_a_daemon_that_is_away_for_a_moment_is_tried_again(bench, patient, monkeypatch):
    service = patient
    job = service.submit(spec(bench), content())
    back = threading.Event()
    real = bench.engine.daemon.settings

    class Elsewhere:
        """The daemon's address as it is while the daemon is away."""

        def __getattr__(self, name):
            return "unix:///nowhere/docker.sock" if name == "host" and not back.is_set() else getattr(real, name)

    bench.engine.daemon.close()
    monkeypatch.setattr(bench.engine.daemon, "settings", Elsewhere())
    service.start()
    waits = until(lambda: (row := service.get(job.id)).not_before is not None and row)
    assert (waits.state, waits.reason.code) == ("queued", "engine_away")
    back.set()
    try_again(service, job.id)
    ended = service.wait(job.id, LIMIT)
    assert (ended.state, ended.attempts) == ("succeeded", 1), "that was no attempt of the job's"


@pytest.mark.parametrize(
    ("mood", "code", "step"),
    [
        ("missing", "image_missing", "docker pull"),  # 404
        ("denied", "pull_refused", "docker login"),  # 403
        ("unauthorized", "pull_refused", "docker login"),  # 401
    ],
)
def test_a_pull_that_is_refused_is_not_tried_again(bench, service, registry, mood, code, step):
    job = service.submit(spec(bench, image=registry.image), content())
    registry.mood = mood
    service.start()
    ended = service.wait(job.id, LIMIT)
    assert (ended.state, ended.attempts, ended.reason.code) == ("failed", 1, code)
    assert step in ended.reason.render_hint()
    assert any(step in line.text for line in service.log(job.id).lines), "the log says it, too"


@pytest.mark.parametrize(("mood", "code"), [("denied", "pull_refused"), ("missing", "image_missing")])
def test_a_refusal_is_said_at_submit(bench, service, registry, mood, code):
    registry.mood = mood
    with pytest.raises(PaddleGpuError) as caught:
        service.submit(spec(bench, image=registry.image), content())
    assert caught.value.code == code
    assert service.list() == ()
