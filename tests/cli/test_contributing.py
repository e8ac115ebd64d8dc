"""A finished GPU job as one line for the public collection: shown, written where told, without a name in it.

The job stands in: no machine of the tests has a GPU. Store, services and command are the real ones.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from benchmarks.gpu_logs.collection import read
from benchmarks.gpu_logs.rebuild import rebuilt
from jupyter_paddle_gpu.domain.estimates import DeviceTerms
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.domain.measurements.gpu_logs import GpuLog
from jupyter_paddle_gpu.services import Services, Settings

GIB = 1 << 30
SECRETS = ("/home/ada", "thesis", "ada", "TOKEN", "hunter2", "a note", "GPU-7", "acme")
TERMS = DeviceTerms(mapped_low=7 * GIB, mapped_high=8 * GIB, context_low=GIB // 2, context_high=GIB, source="table")
SPEC = JobSpec(
    name="thesis",
    notebook="/home/ada/thesis.ipynb",
    output="/home/ada/thesis.out.ipynb",
    folder="/home/ada",
    engine="local",
    environment={"TOKEN": "hunter2"},
    estimated_device="A100 SXM 80GB",
    estimated_batch_size=64,
    estimated_precision="O1",
    estimated_size=(224, 320),
    trainer="PaddleSeg",
    estimated_allocated_bytes=6 * GIB,
    estimated_reserved_bytes=6 * GIB + 9,
    estimated_peak_bytes=8 * GIB,
    estimated_low_bytes=7 * GIB + 7,
    estimated_high_bytes=9 * GIB - 7,
    estimated_terms=TERMS,
)
SEEN = DeviceSummary(id="GPU-7", memory_peak_bytes=9 * GIB, processes_peak=1, memory_samples=10, peak_samples=8)
RESULT = JobResult(
    reason="succeeded",
    device_allocated_bytes=6 * GIB + 5,
    device_reserved_bytes=7 * GIB,
    paddle_version="3.3.1+acme",
    cuda_version="12.6",
    statistics=StatisticsSummary(samples=10, devices=(SEEN,)),
)


@pytest.fixture
def finished(environment):
    """Puts a job into the store of the commands."""

    def put(**changes):
        result = msgspec.structs.replace(RESULT, **changes.pop("result", {}))
        known = {"state": "succeeded", "ended": 1.7e9, "device_ids": ("GPU-7",), "owner": "ada", "note": "a note"}
        job = Job(id="job-1", spec=SPEC, created=1.0, updated=1.0, result=result, **{**known, **changes})
        services = Services(Settings(data_folder=Path(environment["PADDLE_GPU_DATA"])))
        services.jobs.store.add(job)
        services.close()

    return put


def test_the_line_is_shown_and_written_only_where_told(cli, finished, tmp_path):
    finished()
    file = tmp_path / "facts.jsonl"
    shown = cli("contribute")
    assert shown.status == 0
    assert "written nowhere" in " ".join(shown.out.split())
    assert all(fact in shown.out for fact in ("PaddleSeg", "224 x 320", "O1", "7.00 GiB – 9.00 GiB"))
    assert not file.exists()
    written = cli("contribute", "job-1", "--kind", "segmentation", "--write", str(file), "--json")
    (line,) = file.read_text().splitlines()
    assert json.loads(line) == written.json == {
        "kind": "segmentation", "trainer": "PaddleSeg", "date": "2023-11-14", "card": "A100 SXM 80GB",
        "paddle": "3.3.1", "cuda": "12.6",
        "batch": 64, "size": [224, 320], "precision": "O1", "cards": 1,
        "allocated": {"low": 6 * GIB + 5, "high": 6 * GIB + 5}, "reserved": {"low": 7 * GIB, "high": 7 * GIB},
        "device": {"low": 9 * GIB, "high": 9 * GIB},
        "foretold": {
            "allocated": 6 * GIB, "reserved": 6 * GIB + 9, "device": 8 * GIB,
            "low": 7 * GIB + 7, "high": 9 * GIB - 7,  # as it was shown, not as the bare terms have it
        },
    }  # fmt: skip
    assert msgspec.json.decode(line, type=GpuLog).line == line
    assert not [secret for secret in SECRETS if secret in line]
    cli("contribute", "--write", str(file))
    assert len(file.read_text().splitlines()) == 2
    assert "没有写入任何文件" in "".join(cli("contribute", LANG="zh_CN.UTF-8").out.split())


@pytest.mark.parametrize(("typed", "count"), [("y", 1), ("", 0), ("n", 0)])
def test_at_a_terminal_the_line_is_shown_before_it_is_written(environment, finished, tmp_path, typed, count):
    finished()
    file = tmp_path / "facts.jsonl"
    held, given = pty.openpty()
    command = [sys.executable, "-m", "jupyter_paddle_gpu", "contribute", "--write", str(file)]
    child = subprocess.Popen(command, stdin=given, stdout=given, stderr=given, env={**environment, "COLUMNS": "300"})
    os.close(given)
    said = ""
    while "[y/N]" not in said:
        said += os.read(held, 4096).decode()
    assert "The line: {" in said
    assert "written nowhere" not in said
    assert not file.exists()
    os.write(held, f"{typed}\n".encode())
    with contextlib.suppress(OSError):  # Linux says so where the other end is closed
        while more := os.read(held, 4096).decode():
            said += more
    assert child.wait(30) == 0
    os.close(held)
    assert (f"added to {file}" in said, "Nothing was written" in said) == (bool(count), not count)
    assert (len(file.read_text().splitlines()) if file.exists() else 0) == count


def test_a_line_goes_into_the_collection_as_it_is_and_its_range_is_judged(cli, finished, tmp_path):
    finished()
    file = tmp_path / "contributed.jsonl"
    cli("contribute", "--write", str(file))
    public, logs = read(tmp_path / "none"), read(file)
    assert logs[: len(public)] == public
    (log,) = logs[len(public) :]
    assert log.line == file.read_text().rstrip()
    (row,) = rebuilt(log, tmp_path)
    assert row["thread"].startswith("contributed ")
    assert (row["logged"]["device"], row["estimated"]["high"], row["device_inside"]) == (9 * GIB, 9 * GIB - 7, False)
    assert row["error"] == pytest.approx(0, abs=1e-8)
    assert (row["device_error"], row["reserved_error"]) == (8 / 9 - 1, (6 * GIB + 9) / (7 * GIB) - 1)
    cli("contribute", "--write", str(file))
    with pytest.raises(ValueError, match="twice"):
        read(file)


def test_a_line_that_names_a_thread_is_not_a_contributed_one(tmp_path):
    file = tmp_path / "contributed.jsonl"
    file.write_text(GpuLog(thread="o/n#3").line + "\n")
    with pytest.raises(ValueError, match="neither thread nor command"):
        read(file)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"device_ids": ()}, "nothing_to_contribute"),
        ({"state": "running", "ended": None}, "nothing_to_contribute_yet"),
        ({"state": "failed", "result": {"reason": "cell_error"}}, "nothing_to_contribute_stopped"),
        ({"result": {"device_allocated_bytes": None, "statistics": None}}, "nothing_to_contribute_measured"),
    ],
)
def test_a_job_without_facts_is_refused(cli, finished, changes, code):
    finished(**changes)
    ran = cli("contribute", "job-1", "--json")
    assert (ran.status, ran.json["code"]) == (1, code)


def test_full_memory_is_a_fact_and_a_shared_card_is_not(cli, finished, tmp_path):
    shared = msgspec.structs.replace(SEEN, processes_peak=2)
    statistics = StatisticsSummary(samples=10, devices=(shared,))
    finished(state="failed", result={"reason": "out_of_memory_device", "statistics": statistics})
    said = cli("contribute", "job-1", "--json").json
    assert said["exhausted"]["low"] == 6 * GIB + 5
    assert not {"allocated", "reserved", "device"} & set(said)
    refused = cli("contribute", "job-1", "--write", str(tmp_path))
    assert refused.status == 2
