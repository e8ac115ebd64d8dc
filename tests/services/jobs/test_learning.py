"""Which finished jobs teach the calibration, and that each does once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.estimates import DeviceTerms
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.estimator.memory.calibration import Key, Observation
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.services.jobs.learning import learn

GIB, MIB = 1 << 30, 1 << 20
TERMS = DeviceTerms(mapped_low=GIB, mapped_high=2 * GIB, context_low=300 * MIB, context_high=700 * MIB, source="table")
KEY = Key("A100 SXM 80GB", "12.6", "3.3.1")
SEEN = DeviceSummary(id="GPU-0", memory_peak_bytes=2 * GIB, processes_peak=1, memory_samples=10, peak_samples=8)
CARD = Device(id="GPU-0", index=0, vendor="nvidia", name="NVIDIA A100-SXM4-80GB", memory_total=80 * GIB)


@pytest.fixture
def teach(tmp_path: Path) -> Callable[..., list[str]]:
    """Gives one job to a new estimator on the same file; the codes of what is said of it."""

    def give(
        seen: dict[str, Any] | None = None, spec: Any = (), result: Any = (), card: Any = (), job: Any = ()
    ) -> list[str]:
        from msgspec.structs import replace

        asked = JobSpec(name="a", notebook="/a", output="/o", folder="/", engine="local")
        asked = replace(asked, **{"estimated_terms": TERMS, "estimated_paddle_version": "3.3.1", **dict(spec)})
        row = Job(id="job-1", spec=asked, state="running", created=0, updated=0, device_ids=("GPU-0",))
        summary = StatisticsSummary(samples=10, devices=(replace(SEEN, **(seen or {})),))
        known = {"reason": "succeeded", "paddle_version": "3.3.1", "cuda_version": "12.6", "steps_measured": 50}
        ended = JobResult(**{**known, "device_reserved_bytes": 1500 * MIB, "statistics": summary, **dict(result)})
        host = HostSample(cpu_count=1, cpu_percent=0, memory_total=GIB, memory_available=GIB)
        inventory = Inventory(time=time.time(), host=host, devices=(replace(CARD, **dict(card)),))
        estimator = EstimateService(EstimateSettings(calibration=tmp_path / "calibration.json"))
        notes = learn(lambda: estimator, lambda: inventory, replace(row, **dict(job)), ended)
        assert all(note.render() for note in notes)
        return [note.code for note in notes]

    return give


@pytest.fixture
def learnt(tmp_path: Path) -> Callable[..., tuple[Observation, ...]]:
    return lambda key=KEY: EstimateService(
        EstimateSettings(calibration=tmp_path / "calibration.json")
    ).calibration.observations(key)


def test_a_job_counts_once_however_often_it_is_found_ended(teach: Any, learnt: Any) -> None:
    assert teach() == teach() == ["learnt"]
    (one,) = learnt()
    assert (one.job, one.measured, one.mapped_low) == ("job-1", 2 * GIB, GIB)
    teach(job={"id": "job-2"})
    assert [seen.job for seen in learnt()] == ["job-1", "job-2"]
    assert learnt(Key("A100 SXM 80GB", "11.8", "3.3.1")) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seen": {"memory_samples": 4}}, ["not_learnt_short"]),
        ({"seen": {"peak_samples": 2}}, ["not_learnt_short"]),
        ({"seen": {"processes_peak": 2}}, ["not_learnt_processes"]),
        ({"result": {"steps_measured": 4}}, ["not_learnt_short"]),
        ({"result": {"paddle_version": "3.2.0"}}, ["not_learnt_version"]),
        ({"result": {"device_reserved_bytes": 3 * GIB}}, ["not_learnt_unlike"]),
        ({"result": {"device_reserved_bytes": GIB // 2}}, ["not_learnt_unlike"]),
        ({"seen": {"memory_peak_bytes": GIB // 2}, "result": {"device_reserved_bytes": None}}, ["not_learnt_unlike"]),
        ({"result": {"reason": "cell_error"}}, []),
        ({"result": {"statistics": None}}, []),
        ({"seen": {"memory_peak_bytes": None}}, []),
        ({"spec": {"estimated_terms": None}}, []),
        ({"job": {"device_ids": ("GPU-0", "GPU-1")}}, []),
        ({"job": {"device_ids": ()}}, []),
        ({"card": {"parent": "GPU-9"}}, []),
        ({"card": {"id": "GPU-1"}}, []),
    ],
)
def test_figures_that_mean_something_else_teach_nothing(
    teach: Any, learnt: Any, changes: dict[str, Any], said: list[str]
) -> None:
    assert teach(**changes) == said
    assert learnt() == ()


def test_the_drivers_cuda_stands_in_where_paddle_names_none_and_a_local_build_is_the_same_release(
    teach: Any, learnt: Any
) -> None:
    assert teach(result={"cuda_version": None, "paddle_version": "3.3.1+cu126"}) == ["learnt"]
    assert len(learnt(Key("A100 SXM 80GB"))) == 1
    assert len(learnt(Key("A100 SXM 80GB", paddle="3.3.1"))) == 1
