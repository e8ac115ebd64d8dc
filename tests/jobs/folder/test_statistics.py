"""What running jobs use is kept: by real processes, at a bounded size, through a change of servers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.devices import Device, DeviceProcess, HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec, Resources
from jupyter_paddle_gpu.domain.jobs.reasons import succeeded
from jupyter_paddle_gpu.domain.jobs.statistics import DevicePoint, StatisticsPoint, summarize
from jupyter_paddle_gpu.engines.base import JobFolder
from jupyter_paddle_gpu.engines.processes import processes_of
from jupyter_paddle_gpu.jobs.folder.statistics import History
from jupyter_paddle_gpu.jobs.monitoring.endings import Ending, with_measurements
from jupyter_paddle_gpu.jobs.settings import JobSettings

OFTEN = JobSettings(active_seconds=0.05, idle_seconds=0.1, wait_seconds=0.05, statistics_least_seconds=0.1)
WAIT = "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.02)"


def point(number: int, **fields) -> StatisticsPoint:
    return StatisticsPoint(**{"time": float(number), "seconds": 1.0, "cpu_percent": 50.0, **fields})


def add_all(history: History, points: list[StatisticsPoint]) -> None:
    for one in points:
        history.add(one, history.read())
        assert len(history.read()) <= history.points


def test_a_history_is_bounded_and_its_summary_is_that_of_every_sample(tmp_path: Path) -> None:
    points = [
        point(
            n,
            cpu_percent=float(n % 200),
            cpu_seconds=n / 2,
            memory_bytes=900 if n == 333 else 100,
            read_bytes=10 * n,
            devices=(
                DevicePoint(
                    id="GPU-0", memory_bytes=7000 if n >= 500 else 3000, utilization_percent=n % 100, samples=1
                ),
            ),
        )
        for n in range(1000)
    ]
    history = History(JobFolder(tmp_path), 64)
    add_all(history, points)
    whole, kept = summarize(points), history.statistics()
    assert kept.summary.memory_peak_bytes == whole.memory_peak_bytes == 900
    assert kept.summary.samples == whole.samples == 1000
    assert (kept.summary.seconds, kept.summary.read_bytes, kept.summary.cpu_seconds) == (1000.0, 9990, 499.5)
    assert kept.summary.cpu_mean_percent == pytest.approx(99.5, abs=0.1)
    (device,) = kept.summary.devices
    assert (device.memory_peak_bytes, device.memory_samples) == (7000, 1000)
    assert device.utilization_mean_percent == pytest.approx(49.5, abs=0.1)
    assert device.peak_samples == pytest.approx(500, abs=40)  # as exact as the points are long
    assert [one.time for one in kept.points] == sorted(one.time for one in kept.points)
    assert kept.points[-1].time == 999.0


def test_no_part_of_a_long_job_is_told_much_more_coarsely_than_another(tmp_path: Path) -> None:
    history = History(JobFolder(tmp_path), 32)
    add_all(history, [point(n) for n in range(3000)])
    lengths = [one.seconds for one in history.read()]
    assert sum(lengths) == 3000
    assert max(lengths) <= 3 * 3000 / 16  # half of the 32 points are left when it is thinned


def test_lines_that_are_none_and_a_torn_end_are_left_out(tmp_path: Path) -> None:
    history = History(JobFolder(tmp_path), 16)
    add_all(history, [point(1), point(2)])
    with history.path.open("ab") as file:
        file.write(b'not json\n{"time": 3')
    add_all(history, [point(4)])
    assert [one.time for one in history.read()] == [1.0, 2.0, 4.0]


def test_a_link_in_place_of_the_history_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "statistics.jsonl").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        History(JobFolder(tmp_path), 16).add(point(1), [])
    assert (tmp_path / "other").read_text() == "kept"


def test_a_local_job_with_its_children_is_seen_from_outside(open_service, spec, make_notebook, work, until) -> None:
    service = open_service(OFTEN)
    service.start()
    held = "import subprocess, sys\nhold = b'x' * (80 << 20)\npathlib.Path('out').write_bytes(hold)"
    child = "child = subprocess.Popen([sys.executable, '-c', 'hold = b\"x\" * (60 << 20); input()'], stdin=-1)"
    job = service.submit(
        spec(), make_notebook("import pathlib\n" + held, child, WAIT, "child.kill(); sum(range(10**7))")
    )
    big = 140 << 20
    seen = until(
        lambda: (
            (all_seen := service.statistics(job.id)).points
            and (all_seen.summary.memory_peak_bytes or 0) > big
            and all_seen
        )
    )
    assert seen.summary.processes_peak >= 3
    (work / "go").touch()
    ended = service.wait(job.id, 180)
    assert ended.state == "succeeded"
    summary = ended.result.statistics
    assert summary == service.statistics(job.id).summary
    assert summary.samples == len(service.statistics(job.id).points) > 1
    assert summary.cpu_seconds > 0
    assert summary.written_bytes is not None
    assert big < summary.memory_peak_bytes < 3 * big


def test_a_change_of_servers_leaves_one_history_without_doubles(open_service, spec, make_notebook, work, until) -> None:
    first, second = open_service(OFTEN), open_service(OFTEN)
    first.start()
    second.start()  # stands by
    job = first.submit(spec(), make_notebook(WAIT))
    until(lambda: len(first.statistics(job.id).points) > 2)
    first.stop()
    before = first.statistics(job.id).points
    until(lambda: len(second.statistics(job.id).points) > len(before) + 25)
    (work / "go").touch()
    assert second.wait(job.id, 180).state == "succeeded"
    points = second.statistics(job.id).points
    assert points[: len(before)] == before
    # One alone takes a sample every 0.1 s at most, and any of them may come late; two would not wait for each other.
    assert len(points) <= 1.5 * (points[-1].time - points[0].time) / OFTEN.statistics_least_seconds + 3
    assert sum(one.seconds for one in points) <= time.time() - second.get(job.id).started + 0.1


@pytest.mark.parametrize(("host", "others", "told"), [(True, 1, True), (False, 0, True), (False, 1, False)])
def test_in_a_container_a_number_of_the_host_is_not_taken_for_one_of_ours(
    open_service, spec, make_notebook, work, until, host, others, told
) -> None:
    held = 5 << 30

    def inventory() -> Inventory:
        ours = [process.pid for job in service.list() for process in processes_of(job.id)][-1:]
        foreign = [DeviceProcess(pid=1, memory_bytes=1 << 30)] * others
        card = Device(
            id="GPU-7",
            index=0,
            vendor="nvidia",
            name="Card",
            memory_total=16 << 30,
            memory_free=8 << 30,
            memory_used=8 << 30,
            processes=(*(DeviceProcess(pid=pid, memory_bytes=held) for pid in ours), *foreign),
        )
        sample = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)
        return Inventory(time=time.time(), host=sample, devices=(card,))

    service = open_service(OFTEN, inventory=inventory)
    service._dispatcher = None
    service._reconciler._sampling._host_numbers = host
    job = service.submit(spec(resources=Resources(gpus=1, device_ids=("GPU-7",))), make_notebook(WAIT))
    service.start()
    until(lambda: service.statistics(job.id).summary.samples > 3)
    (work / "go").touch()
    (device,) = service.wait(job.id, 180).result.statistics.devices
    assert device.memory_peak_bytes == (held if told else None)
    assert device.device_memory_peak_bytes == 8 << 30


def test_without_samples_there_is_no_summary(open_service, spec, make_notebook) -> None:
    service = open_service(JobSettings(active_seconds=0.05, wait_seconds=0.05, statistics_seconds=0))
    service.start()
    ended = service.wait(service.submit(spec(), make_notebook("1")).id, 180)
    assert (ended.state, ended.result.statistics) == ("succeeded", None)
    assert service.statistics(ended.id).points == ()


STEPS = """
import paddle
layer = paddle.nn.Linear(64, 64)
adam = paddle.optimizer.Adam(parameters=layer.parameters())
for step in range(8):
    layer(paddle.ones([32, 64])).sum().backward()
    adam.step()
    adam.clear_grad()
"""


@pytest.mark.paddle
def test_an_estimate_for_the_cpu_that_was_off_is_said_in_a_sentence(service, spec, make_notebook) -> None:
    first = service.wait(service.submit(spec(), make_notebook(STEPS)).id, 180)
    assert first.result.notes == ()  # nothing was estimated
    measured = first.result.step_allocated_bytes
    wrong = service.wait(
        service.submit(spec(estimated_allocated_bytes=round(0.9 * measured)), make_notebook(STEPS)).id, 60
    )
    (note,) = wrong.result.notes
    assert note.code == "estimate_was_off"
    assert "-10.0 %" in note.render()


@pytest.mark.parametrize(
    ("estimated", "gpus", "said"), [(1000, 0, 0), (1011, 0, 1), (989, 0, 1), (1009, 0, 0), (500, 1, 0), (None, 0, 0)]
)
def test_less_than_one_percent_is_not_worth_a_sentence_and_a_gpu_has_a_range(spec, estimated, gpus, said) -> None:
    asked: JobSpec = spec(estimated_allocated_bytes=estimated, resources=Resources(gpus=gpus))
    job = Job(id="a", spec=asked, state="running", created=0, updated=0)
    ending = Ending("succeeded", succeeded(), JobResult(reason="succeeded", step_allocated_bytes=1000))
    assert len(with_measurements(ending, job, None).result.notes) == said
