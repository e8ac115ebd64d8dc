"""A job can put links where its files were: the server follows none of them, in either direction."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobState, Progress
from jupyter_paddle_gpu.engines import own_files
from jupyter_paddle_gpu.engines.base import JobFolder, Observation, write_spec
from jupyter_paddle_gpu.jobs.folder import ranks
from jupyter_paddle_gpu.jobs.folder.log import LogReader, say
from jupyter_paddle_gpu.jobs.folder.progress import ProgressReader
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of

SECRET = "the host's own"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the host that a job must neither read nor change."""
    path = tmp_path / "secret"
    path.write_text(SECRET)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    (tmp_path / "job").mkdir()
    return JobFolder(tmp_path / "job")


@pytest.fixture
def job(spec: Any) -> Any:
    def make(state: JobState = "running", **fields: Any) -> Job:
        return Job(id="one", spec=spec(**fields), state=state, created=1.0, updated=1.0)

    return make


def test_the_log_is_not_read_through_a_link(folder: JobFolder, secret: Path) -> None:
    secret.write_text('{"n":0,"t":1,"s":"stdout","x":"secret"}\n')
    folder.log.symlink_to(secret)
    page = LogReader(folder.log).page(0, 10)
    assert (page.lines, page.total) == ((), 0)


def test_a_ranks_log_is_not_read_through_a_linked_folder(folder: JobFolder, tmp_path: Path) -> None:
    line = '{"n":0,"t":1,"s":"stdout","x":"secret"}\n'
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / folder.log.name).write_text(line)
    (folder.path / "rank-1").symlink_to(tmp_path / "elsewhere")
    assert LogReader(ranks.log_of(folder, 1), folder.path).page(0, 10).total == 0
    (folder.path / "rank-2").mkdir()
    ranks.log_of(folder, 2).write_text(line)
    assert LogReader(ranks.log_of(folder, 2), folder.path).page(0, 10).total == 1


def test_the_log_is_not_written_through_a_link(folder: JobFolder, secret: Path) -> None:
    folder.log.symlink_to(secret)
    assert not say(folder, "a line")
    assert secret.read_text() == SECRET


def test_the_lock_makes_no_file_elsewhere(folder: JobFolder, tmp_path: Path) -> None:
    folder.lock.symlink_to(tmp_path / "made")
    assert not say(folder, "a line")
    assert not (tmp_path / "made").exists()


def test_a_pipe_in_place_of_the_log_holds_nobody_up(folder: JobFolder) -> None:
    os.mkfifo(folder.log)
    assert LogReader(folder.log).page(0, 10).total == 0
    assert not say(folder, "a line")


def test_events_are_not_read_through_a_link(folder: JobFolder, secret: Path) -> None:
    secret.write_text('{"t":1,"type":"cell","state":"started","cell":3,"done":1,"total":9}\n')
    folder.events.symlink_to(secret)
    assert ProgressReader(folder.events).read(1.0) == Progress()


def test_the_result_is_not_read_through_a_link(folder: JobFolder, secret: Path, job: Any) -> None:
    secret.write_text('{"reason":"succeeded"}')
    folder.result.symlink_to(secret)
    assert ending_of(job(), folder, Observation(state="ended")).state == "failed"


def test_a_specification_replaces_a_link_and_does_not_follow_it(folder: JobFolder, secret: Path, job: Any) -> None:
    for name in ("spec.json", "spec.tmp"):
        (folder.path / name).symlink_to(secret)
    write_spec(job(), folder, stop_seconds=1.0)
    assert secret.read_text() == SECRET
    assert not folder.spec.is_symlink()
    assert b'"one"' in folder.spec.read_bytes()


@pytest.fixture
def ended(service: Any, spec: Any, make_notebook: Any) -> Job:
    job = service.submit(spec(), make_notebook("1"))
    return service.wait(job.id, 180)


def test_publish_reads_through_no_link(service: Any, ended: Job, secret: Path) -> None:
    notebook = service.folder_of(ended.id).notebook
    notebook.unlink()
    notebook.symlink_to(secret)
    Path(ended.spec.output).unlink()
    with pytest.raises(PaddleGpuError) as caught:
        service.publish(ended.id)
    assert caught.value.code == "link_refused"
    assert str(notebook) in str(caught.value)
    assert not Path(ended.spec.output).exists()


def test_publish_writes_through_no_link(service: Any, ended: Job, secret: Path, tmp_path: Path) -> None:
    output = Path(ended.spec.output)
    output.unlink()
    output.symlink_to(secret)
    service.publish(ended.id)
    assert secret.read_text() == SECRET and not output.is_symlink(), "the link is replaced"
    output.unlink()
    output.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    output.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PaddleGpuError) as caught:
        service.publish(ended.id)
    assert caught.value.code == "link_refused"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_rerun_takes_neither_notebook_nor_checkpoints_through_links(
    service: Any, ended: Job, secret: Path, tmp_path: Path
) -> None:
    folder = service.folder_of(ended.id)
    inner = folder.checkpoints / "step-1"
    inner.mkdir(parents=True)
    (inner / "model").write_text("weights")
    (folder.checkpoints / "latest").symlink_to("step-1")
    (folder.checkpoints / "stolen").symlink_to(secret)
    (folder.checkpoints / "folder").symlink_to(tmp_path)
    (inner / "up").symlink_to("../../../../secret")
    os.mkfifo(inner / "pipe")
    again = service.wait(service.rerun(ended.id).id, 180)
    copied = service.folder_of(again.id).checkpoints
    assert again.state == "succeeded"
    assert (copied / "step-1" / "model").read_text() == "weights"
    assert (copied / "latest").readlink() == Path("step-1")
    assert sorted(path.name for path in copied.rglob("*") if path.name in ("stolen", "folder", "up", "pipe")) == []
    folder.source.unlink()
    folder.source.symlink_to(secret)
    with pytest.raises(PaddleGpuError) as caught:
        service.rerun(ended.id)
    assert caught.value.code == "source_missing"


def test_checkpoints_that_are_a_link_themselves_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text(SECRET)
    (tmp_path / "checkpoints").symlink_to(tmp_path / "private")
    (tmp_path / "to").mkdir()
    own_files.copy_tree(tmp_path / "checkpoints", tmp_path / "to")
    assert list((tmp_path / "to").iterdir()) == []


# ---- rank-N/ of a distributed job


def rank(folder: JobFolder, number: int, **result: Any) -> Path:
    path = folder.path / f"rank-{number}"
    path.mkdir()
    (path / "result.json").write_text(json.dumps({"reason": "cell_error", "ended": 5.0, **result}))
    return path


def test_the_rank_that_failed_has_the_word(folder: JobFolder, job: Any) -> None:
    """The launcher ends the others with SIGTERM, which looks like a cancel that nobody asked for."""
    folder.result.write_text('{"reason": "cancelled"}')
    failed = {"cell": 2, "line": 1, "name": "ValueError", "value": "bad shard"}
    rank(folder, 1, reason="cancelled", ended=3.0)
    rank(folder, 2, failure=failed, ended=4.0)
    rank(folder, 10, failure={**failed, "value": "later"}, ended=9.0)
    ending = ending_of(job(), folder, Observation(state="ended", exit_code=1))
    assert (ending.state, ending.reason.code) == ("failed", "cell_error")
    assert "bad shard" in ending.reason.render()
    asked = ending_of(job("stopping"), folder, Observation(state="ended", exit_code=1))
    assert (asked.state, asked.reason.code) == ("cancelled", "cancelled"), "a person's cancel stays one"


def test_no_result_of_a_rank_is_read_through_a_link(folder: JobFolder, secret: Path, job: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for place in (secret, outside / "result.json"):
        place.write_text('{"reason": "cell_error", "failure": {"cell": 0, "name": "stolen", "value": "secret"}}')
    (folder.path / "rank-1").symlink_to(outside)
    (folder.path / "rank-2").mkdir()
    (folder.path / "rank-2" / "result.json").symlink_to(secret)
    (folder.path / "rank-3").mkdir()
    os.mkfifo(folder.path / "rank-3" / "result.json")
    (folder.path / "rank-4").mkdir()
    (folder.path / "rank-4" / "result.json").mkdir()
    (folder.path / "rank-5").write_text("a file")
    (folder.path / "rank-0").symlink_to(outside)
    assert ranks.failure(folder) is None
    ending = ending_of(job(), folder, Observation(state="ended", exit_code=1))
    assert ending.reason.code == "runner_vanished"


def test_a_result_of_a_rank_that_is_too_large_is_left_alone(folder: JobFolder) -> None:
    path = rank(folder, 1)
    with (path / "result.json").open("ab") as file:
        file.truncate(1 << 33)  # sparse: 8 GiB that take no disk
    assert ranks.failure(folder) is None


def test_another_attempt_removes_the_ranks_and_nothing_that_links_lead_to(
    folder: JobFolder, secret: Path, tmp_path: Path
) -> None:
    """A result that lay there would keep a rank from starting."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text(SECRET)
    inside = rank(folder, 1)
    (inside / "out").symlink_to(outside)
    (inside / "file").symlink_to(secret)
    (folder.path / "rank-2").symlink_to(outside)
    ranks.clear(folder)
    assert not inside.exists()
    assert (outside / "kept").read_text() == secret.read_text() == SECRET


def test_many_ranks_do_not_hold_the_server_up(folder: JobFolder) -> None:
    for number in range(1, 1500):
        (folder.path / f"rank-{number}").mkdir()
    assert len(ranks.folders(folder)) <= 1024
