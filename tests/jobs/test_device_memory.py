"""A device that ran out of memory: estimate and peak side by side, and the next step that follows from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.engines.base import JobFolder, Observation
from jupyter_paddle_gpu.i18n import translator
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of, with_measurements

SAID = "Out of memory error on GPU 0. Cannot allocate 2.0GB memory"
FAILURE = {"cell": 2, "line": 4, "name": "MemoryError", "value": SAID, "traceback": "…"}
SEEN = StatisticsSummary(devices=(DeviceSummary(id="g0", memory_peak_bytes=23 << 30),))
CARD = {"estimated_peak_bytes": 30 << 30, "estimated_device": "RTX 4090", "estimated_batch_size": 128}


def reason(
    folder: Path, *, result: dict[str, Any] | None = None, seen: StatisticsSummary | None = None, **spec: Any
) -> Any:
    """Of a job that ended so."""
    given = JobSpec(
        name="n",
        notebook="/a b/n.ipynb",
        output="/o",
        folder="/a b",
        engine="docker",
        resources=Resources(gpus=1),
        **spec,
    )
    job = Job(id="a", spec=given, state="running", created=1.0, updated=1.0, device_ids=("g0",))
    if result is not None:
        JobFolder(folder).result.write_text(
            json.dumps({"reason": "out_of_memory_device", "failure": FAILURE, **result})
        )
    observation = Observation(state="ended", reason=reasons.out_of_memory_device(value=SAID))
    return with_measurements(ending_of(job, JobFolder(folder), observation), job, seen).reason


def test_the_estimate_stands_beside_what_the_driver_showed(tmp_path: Path) -> None:
    found = reason(tmp_path, result={"device_reserved_bytes": 22 << 30}, seen=SEEN, **CARD)
    assert found.render() == (
        f"The device ran out of memory (the estimate was 30.0 GiB, the most seen in use 23.0 GiB): {SAID}"
    )
    assert (found.code, found.params["cell"]) == ("out_of_memory_device", 3)


@pytest.mark.parametrize(
    ("result", "spec", "inside"),
    [
        ({"device_reserved_bytes": 22 << 30}, {}, "(the most seen in use was 22.0 GiB)"),
        ({}, {"estimated_peak_bytes": 3 << 30}, "(the estimate was 3.00 GiB)"),
        ({}, {}, "memory: Out of"),
        (None, {"estimated_peak_bytes": 3 << 30}, "(the estimate was 3.00 GiB)"),
    ],
)
def test_what_is_not_known_is_left_out(
    tmp_path: Path, result: dict[str, Any] | None, spec: dict[str, Any], inside: str
) -> None:
    found = reason(tmp_path, result=result, **spec)
    assert inside in found.render()
    assert SAID in found.render()


@pytest.mark.parametrize(
    ("largest", "step"),
    [
        (96, "a batch of 96 fits RTX 4090: submit with `--batch-size 96`"),
        (128, "the batch of 128 fits RTX 4090 with nothing else on it: look with `jupyter paddle-gpu gpus`"),
        (None, "`jupyter paddle-gpu estimate --details '/a b/n.ipynb'` names the largest batch"),
    ],
)
def test_the_next_step_names_the_batch_that_fits(tmp_path: Path, largest: int | None, step: str) -> None:
    found = reason(tmp_path, result={}, **CARD, estimated_largest_batch=largest)
    assert step in found.render_hint()
    chinese = found.render(translator("zh_CN")) + found.render_hint(translator("zh_CN"))
    assert "设备显存不足" in chinese
    assert "{" not in chinese


def test_other_reasons_stay_as_they_are(tmp_path: Path) -> None:
    found = reason(tmp_path, result={"reason": "disk_full", "message": "/data"}, seen=SEEN, **CARD)
    assert found == reasons.disk_full("/data")
