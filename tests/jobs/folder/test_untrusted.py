"""Whatever a job writes about itself, its row stays readable and the job comes to an end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.engines.base import JobFolder, Observation
from jupyter_paddle_gpu.jobs.folder import untrusted
from jupyter_paddle_gpu.jobs.folder.progress import ProgressReader
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of, with_measurements
from jupyter_paddle_gpu.jobs.store.job_store import JobStore

HUGE = 10**400
RESULTS = [
    {"reason": "cell_error", "failure": {"cell": "first", "line": "two", "name": 3, "value": None, "traceback": [1]}},
    {"reason": "cell_error", "failure": {"cell": -1, "line": HUGE, "name": "E", "value": "v"}},
    {"reason": "succeeded", "ended": "tomorrow", "seconds": "long"},
    {"reason": "succeeded", "ended": HUGE, "seconds": HUGE, "step_allocated_bytes": HUGE, "exit_code": HUGE},
    {"reason": "exited", "status": "all is well"},
    {"reason": "killed", "signal": "SIGKILL", "message": {"a": 1}},
    {"reason": 7},
    {"reason": "succeeded", "statistics": {"points": 3}, "notes": [{"code": "x", "text": "ours?"}]},
    {"reason": "succeeded", "paddle_version": "x" * 1_000_000},
    {},
]
EVENTS = [
    {"type": "metric", "t": "now", "step": 1},
    {"type": "metric", "t": 1, "step": HUGE, "steps": HUGE - 1},
    {"type": "metric", "t": 1, "step": 3, "steps": -5},
    {"type": "metric", "t": 1, "metrics": {"loss": "low"}},
    {"type": "metric", "t": 1, "metrics": {f"m{n}": n for n in range(100_000)}},
    {"type": "metric", "t": 1, "metrics": {"n" * 100_000: 1}},
    {"type": "cell", "t": 1, "state": "started", "cell": "one", "done": [], "total": {}},
    {"type": ["cell"]},
]


def job(**fields: Any) -> Job:
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="docker", estimated_allocated_bytes=100)
    return Job(id="a", spec=spec, state="running", created=1.0, updated=1.0, **fields)


@pytest.mark.parametrize("raw", RESULTS)
def test_a_row_can_be_written_and_read_whatever_the_result_says(tmp_path: Path, raw: dict[str, Any]) -> None:
    folder, store = JobFolder(tmp_path), JobStore(tmp_path / "jobs.sqlite")
    folder.result.write_text(json.dumps(raw))
    ending = with_measurements(ending_of(job(), folder, Observation(state="ended")), job(), None)
    ended = job(result=ending.result, reason=ending.reason, ended=ending.ended)
    ended = store.add(ended)
    (row,) = store.select()
    assert row == ended
    assert ending.reason.render()
    assert len(msgspec.json.encode(row)) < 50_000
    assert ending.result is None or not any(note.code == "x" for note in ending.result.notes), "notes are ours"
    assert ended.ended is None or math.isfinite(ended.ended)
    store.close()


def test_a_row_can_be_written_and_read_whatever_the_events_say(tmp_path: Path) -> None:
    path, store = tmp_path / "events.jsonl", JobStore(tmp_path / "jobs.sqlite")
    reader = ProgressReader(path)
    store.add(job())
    good = {"type": "metric", "t": 1, "step": 2, "steps": 4, "metrics": {"loss": 0.5}}
    with path.open("w") as file:
        file.writelines(json.dumps(event) + "\n" for event in (*EVENTS, good))
        file.write("x" * 3_000_000 + "\n" + "[" * 100_000 + "\n" + json.dumps({**good, "step": 3}) + "\n")
    progress = reader.read(1.0)
    assert (progress.step, progress.steps, progress.metrics["loss"]) == (3, 4, 0.5)
    assert progress == ProgressReader(path).read(1.0)
    store.change("a", lambda now: msgspec.structs.replace(now, progress=progress))
    assert store.select()[0].progress == progress
    assert len(msgspec.json.encode(progress)) < 50_000
    store.close()


def test_a_row_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    store = JobStore(tmp_path / "jobs.sqlite")
    store.add(job())
    with pytest.raises(msgspec.ValidationError):
        store.change("a", lambda now: msgspec.structs.replace(now, started="noon"))  # type: ignore[arg-type]
    assert store.select()[0].started is None
    store.close()


def test_the_end_of_a_long_traceback_is_kept() -> None:
    found = untrusted.result(
        {"reason": "cell_error", "failure": {"cell": 1, "traceback": "x" * 10**6 + "ValueError: no"}}
    )
    assert found.failure is not None
    assert found.failure.traceback.endswith("ValueError: no")
    assert len(found.failure.traceback) <= 100_000
