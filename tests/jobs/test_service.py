"""The whole way of a job on this machine: submit, run, log, result, cancel, delete, run again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines import processes
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings, SchedulerPolicy

LOOP = "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.05)"


def processes_of(job: Job) -> list[int]:
    return [process.pid for process in processes.processes_of(job.id)]


def test_from_submit_to_result(service: JobService, spec: Any, make_notebook: Any, texts: Any) -> None:
    seen: list[str] = []
    unsubscribe = service.subscribe(lambda job_id, job: seen.append(job.state if job else "deleted"))
    job = service.submit(spec(), make_notebook("print('epoch 1/2 loss: 0.5')", "1 + 1"))
    assert job.state == "queued"
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.reason and ended.reason.code) == ("succeeded", "succeeded")
    assert ended.created <= (ended.started or 0) <= (ended.ended or 0)
    assert (ended.progress.cells_done, ended.progress.cells_total) == (2, 2)
    assert ended.progress.metrics == {"loss": 0.5}
    assert ended.result and ended.result.exit_code == 0 and (ended.result.process_rss_bytes or 0) > 0
    assert texts(service, job) == ["epoch 1/2 loss: 0.5"]
    page = service.log(job.id)
    assert page.ended and [line.seq for line in page.lines] == list(range(page.total))
    assert json.loads(Path(job.spec.output).read_text())["cells"][1]["outputs"][0]["data"]["text/plain"] == "2"
    unsubscribe()
    assert seen[-1] == "succeeded" or "running" in seen


def test_subscribers_hear_of_changes_by_other_processes(
    open_service: Any, spec: Any, make_notebook: Any, until: Any
) -> None:
    first, second = open_service(), open_service()
    heard: dict[str, list[str]] = {}
    second.subscribe(lambda job_id, job: heard.setdefault(job_id, []).append(job.state if job else "deleted"))
    first.start()
    second.start()
    job = first.submit(spec(), make_notebook("1"))
    until(lambda: heard.get(job.id, [""])[-1] == "succeeded")
    first.delete(job.id)
    until(lambda: heard[job.id][-1] == "deleted")


def test_failing_cell_is_named(service: JobService, spec: Any, make_notebook: Any) -> None:
    job = service.submit(spec(), make_notebook("x = 1", "y = 2\nraise ValueError('no such class')"))
    ended = service.wait(job.id, 180)
    assert ended.state == "failed" and ended.reason
    assert ended.reason.render() == "Cell 2, line 2 failed: ValueError: no such class"
    assert ended.reason.hint and ended.result and ended.result.failure
    assert (ended.result.failure.cell, ended.result.failure.line) == (1, 2)


def test_a_program_of_a_cell_that_fails_is_told(service: JobService, spec: Any, make_notebook: Any) -> None:
    source = "open('train.py', 'w').write('raise SystemExit(2)')"
    job = service.wait(service.submit(spec(), make_notebook(source, "!python train.py")).id, 180)
    assert job.state == "succeeded" and job.progress.warning is not None
    assert job.progress.warning.render() == "The program that cell 2 starts ended with exit status 2."


def test_cancel_in_the_middle(service: JobService, spec: Any, make_notebook: Any, texts: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook("print('first')", LOOP, "print('never')"))
    until(lambda: "started" in texts(service, job))
    assert service.cancel(job.id).state == "stopping"
    ended = service.wait(job.id, 180)
    assert ended.state == "cancelled" and ended.reason and ended.reason.code == "cancelled"
    assert texts(service, job) == ["first", "started"]
    partial = json.loads(Path(job.spec.output).read_text())
    assert partial["cells"][0]["outputs"][0]["text"] == ["first\n"] and partial["cells"][2]["outputs"] == []
    assert processes_of(job) == []
    assert service.cancel(job.id) == ended


def test_forced_cancel(service: JobService, spec: Any, make_notebook: Any, texts: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook("print('first')", LOOP))
    until(lambda: "started" in texts(service, job))
    service.cancel(job.id, force=True)
    assert service.wait(job.id, 180).state == "cancelled"
    until(lambda: processes_of(job) == [])
    assert json.loads(Path(job.spec.output).read_text())["cells"][0]["outputs"]


def test_runner_that_does_not_listen_is_killed(
    open_service: Any, spec: Any, make_notebook: Any, texts: Any, until: Any
) -> None:
    """A stopped (SIGSTOP) runner hears no SIGTERM; SIGKILL ends it after the named delays."""
    service = open_service(JobSettings(active_seconds=0.05, stop_seconds=0.5, kill_seconds=0.2))
    service.start()
    job = service.submit(spec(), make_notebook(LOOP))
    until(lambda: "started" in texts(service, job))
    psutil.Process(service.get(job.id).handle["pid"]).suspend()
    service.cancel(job.id)
    assert service.wait(job.id, 180).state == "cancelled"
    until(lambda: processes_of(job) == [])


def test_vanished_runner(service: JobService, spec: Any, make_notebook: Any, texts: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook("print('first')", LOOP))
    until(lambda: "started" in texts(service, job) and service.get(job.id).state == "running")
    psutil.Process(service.get(job.id).handle["pid"]).kill()
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.reason and ended.reason.code) == ("failed", "runner_vanished")
    assert texts(service, job) == ["first", "started"]
    assert json.loads(Path(job.spec.output).read_text())["cells"][0]["outputs"]
    until(lambda: processes_of(job) == [])


def test_time_limit_is_a_reason(service: JobService, spec: Any, make_notebook: Any) -> None:
    job = service.submit(spec(resources=Resources(seconds=1.0)), make_notebook(LOOP))
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.reason and ended.reason.code) == ("failed", "time_limit")


def test_a_runner_that_lets_its_time_limit_pass_was_not_cancelled(
    open_service: Any, spec: Any, make_notebook: Any, texts: Any, until: Any
) -> None:
    settings = JobSettings(active_seconds=0.05, stop_seconds=0.5, kill_seconds=0.2, time_limit_grace=0.1)
    service = open_service(settings)
    service.start()
    job = service.submit(spec(resources=Resources(seconds=600.0)), make_notebook(LOOP))
    until(lambda: "started" in texts(service, job))
    psutil.Process(service.get(job.id).handle["pid"]).suspend()
    short, change = Resources(seconds=0.1), msgspec.structs.replace
    service.store.change(job.id, lambda row: change(row, spec=change(row.spec, resources=short)))
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.reason.code) == ("failed", "time_limit")
    until(lambda: processes_of(job) == [])


def test_queued_job_can_be_cancelled(open_service: Any, spec: Any, make_notebook: Any) -> None:
    service = open_service()
    service._dispatcher = None  # nobody looks after the queue
    job = service.submit(spec(), make_notebook("1"))
    assert service.cancel(job.id).state == "cancelled"
    assert service.get(job.id).ended


def test_token_makes_submit_idempotent(open_service: Any, spec: Any, make_notebook: Any) -> None:
    services = [open_service() for _ in range(4)]
    for one in services:
        one._dispatcher = None
    ids: list[str] = []
    barrier = threading.Barrier(4)

    def submit(service: JobService) -> None:
        barrier.wait()
        ids.append(service.submit(spec(token="once"), make_notebook("1")).id)

    threads = [threading.Thread(target=submit, args=(one,)) for one in services]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 4 and len(set(ids)) == 1
    assert len(services[0].list()) == 1
    assert [path.name for path in services[0].folder.iterdir()] == ids[:1]


def test_delete_removes_row_and_folder(service: JobService, spec: Any, make_notebook: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook(LOOP))
    with pytest.raises(PaddleGpuError) as refused:
        service.delete(job.id)
    assert (refused.value.code, refused.value.status) == ("not_ended", 409)
    service.cancel(job.id)
    service.wait(job.id, 180)
    service.delete(job.id)
    assert not service.folder_of(job.id).path.exists()
    with pytest.raises(PaddleGpuError) as gone:
        service.get(job.id)
    assert gone.value.status == 404


def test_rerun_goes_on_from_the_checkpoints(service: JobService, spec: Any, make_notebook: Any, texts: Any) -> None:
    source = (
        "import os, pathlib\nfile = pathlib.Path(os.environ['PADDLE_GPU_CHECKPOINTS']) / 'count'\n"
        "count = int(file.read_text()) + 1 if file.exists() else 1\nfile.write_text(str(count))\nprint(count)"
    )
    first = service.submit(spec(token="t"), make_notebook(source))
    service.wait(first.id, 180)
    second = service.rerun(first.id)
    service.wait(second.id, 180)
    assert second.id != first.id and second.spec.rerun_of == first.id
    assert (texts(service, first), texts(service, second)) == (["1"], ["2"])
    assert (service.folder_of(first.id).checkpoints / "count").read_text() == "1"


def test_publish_while_it_runs(service: JobService, spec: Any, make_notebook: Any, texts: Any, until: Any) -> None:
    job = service.submit(spec(), make_notebook("print('first')", LOOP))
    until(lambda: "started" in texts(service, job))
    path = service.publish(job.id)
    assert json.loads(path.read_text())["cells"][0]["outputs"][0]["text"] == ["first\n"]


def test_submitted_content_is_what_runs(service: JobService, spec: Any, make_notebook: Any, texts: Any) -> None:
    """Unsaved content counts, and later edits of the file do not reach the job."""
    wanted = spec()
    Path(wanted.notebook).write_text(make_notebook("print('saved')"))
    job = service.submit(wanted, json.loads(make_notebook("print('unsaved')")))
    service.wait(job.id, 180)
    assert texts(service, job) == ["unsaved"]


def test_answers_and_environment_reach_the_cells(
    service: JobService, spec: Any, make_notebook: Any, texts: Any
) -> None:
    wanted = spec(sets={"epochs": 2}, environment={"MINE": "here"})
    job = service.submit(wanted, make_notebook("import os\nepochs = 50\nprint(epochs, os.environ['MINE'])"))
    service.wait(job.id, 180)
    assert texts(service, job) == ["2 here"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"engine": "nowhere"}, "engine_unknown"),
        ({"python": "/not/there/python"}, "interpreter_missing"),
        ({"folder": "/not/there"}, "folder_missing"),
    ],
)
def test_what_cannot_start_is_refused_at_submit(
    service: JobService, spec: Any, make_notebook: Any, fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(PaddleGpuError) as refused:
        service.submit(spec(**fields), make_notebook("1"))
    assert refused.value.code == code and refused.value.message.hint
    assert service.list() == () and list(service.folder.iterdir()) == []


def test_interpreter_that_does_not_work(service: JobService, spec: Any, make_notebook: Any, work: Path) -> None:
    broken = work / "python"
    broken.write_text("#!/bin/sh\necho 'no such library' >&2\nexit 127\n")
    broken.chmod(0o755)
    job = service.submit(spec(python=str(broken)), make_notebook("1"))
    ended = service.wait(job.id, 180)
    assert ended.state == "failed" and ended.reason and "no such library" in ended.reason.render()
    assert any("no such library" in line.text for line in service.log(job.id).lines)


def test_ids_cannot_lead_out_of_the_folder(service: JobService) -> None:
    for job_id in ("..", "../x", "a/b", "", ".hidden"):
        with pytest.raises(PaddleGpuError) as refused:
            service.folder_of(job_id)
        assert refused.value.status == 404


def test_list_is_newest_first_and_filtered(
    open_service: Callable[..., JobService], spec: Any, make_notebook: Any
) -> None:
    service = open_service()
    service._dispatcher = None
    jobs = [service.submit(spec(f"n{n}"), make_notebook("1")) for n in range(3)]
    service.cancel(jobs[0].id)
    assert [job.id for job in service.list()] == [job.id for job in reversed(jobs)]
    assert [job.id for job in service.list(states=["cancelled"])] == [jobs[0].id]
    assert [job.id for job in service.list(notebook=jobs[1].spec.notebook)] == [jobs[1].id]
    assert len(service.list(limit=2)) == 2


def test_a_job_that_could_never_start_is_not_accepted(service: JobService, spec: Any, make_notebook: Any) -> None:
    with pytest.raises(PaddleGpuError) as refused:
        service.submit(spec(resources=Resources(gpus=1)), make_notebook("1"))
    assert (refused.value.code, refused.value.status) == ("too_few_devices", 409)
    told = Message(code="too_few_devices", text="There is none.")
    job = service.submit(spec(resources=Resources(gpus=1), insisted=told), make_notebook("1"))
    assert service.wait(job.id, 1).state == "queued", "whoever insists waits for one"
    service.cancel(job.id)


def test_a_job_that_waits_longer_than_the_policy_allows_fails(open_service: Any, spec: Any, make_notebook: Any) -> None:
    rules: list[SchedulerPolicy] = [SchedulerPolicy()]
    service = open_service(settings=JobSettings(follow=lambda: (rules[0], rules[0])))
    service._dispatcher = None
    job = service.submit(spec(), make_notebook("1"))
    service.store.change(job.id, lambda now: msgspec.structs.replace(now, created=now.created - 100))
    rules[0] = SchedulerPolicy(timeout=50)  # the file says so from now on
    service.start()
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.started, ended.reason.code) == ("failed", None, "waited_too_long")


def test_a_job_whose_cards_vanish_waits_and_is_placed_anew(
    open_service: Any, spec: Any, make_notebook: Any, texts: Any, until: Any
) -> None:
    card = Device(id="GPU-0", index=0, vendor="nvidia", name="Card", memory_total=8 << 30, memory_free=8 << 30)
    host = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=8 << 30, memory_available=8 << 30)
    here = [card]
    service = open_service(inventory=lambda: Inventory(time=0, host=host, devices=tuple(here)))
    job = service.submit(
        spec(resources=Resources(gpus=1)), make_notebook("import os; print(os.environ['CUDA_VISIBLE_DEVICES'])")
    )
    standing = service.standing("local", Inventory(time=0, host=host, devices=(card,)))
    assert standing.taken == {"GPU-0": job.id}, "who comes behind it finds it taken"
    here.clear()
    service.start()
    waiting = until(lambda: (found := service.get(job.id)).reason and found)
    assert (waiting.state, waiting.reason.code) == ("queued", "no_longer_possible")
    assert "1 GPU was asked for; 0 can be used here." in waiting.reason.render()
    here.append(msgspec.structs.replace(card, id="GPU-1"))
    ended = service.wait(job.id, 180)
    assert (ended.state, ended.device_ids) == ("succeeded", ("GPU-1",))
    assert texts(service, ended) == ["GPU-1"]
