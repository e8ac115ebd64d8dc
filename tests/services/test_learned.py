"""What finished jobs leave for learning: kept once, read in spite of broken lines, exported, put aside, shown."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.learned import LearnedView, ReplayView
from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.decisions import Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceShare, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.domain.learned import LearnedRun
from jupyter_paddle_gpu.matching.learned.experience import is_measured
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.roofline import seconds_per_step
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.jobs.learned_runs import remembered
from jupyter_paddle_gpu.services.learned import History

from ..matching.learned.test_model import CARDS, card

GIB = 1 << 30


def history(jobs: int) -> list[LearnedRun]:
    """A T4 that takes three times its roofline, an A100 that takes twice."""
    found = []
    for at in range(jobs):
        on = card(CARDS[at % 2])
        step = Need(low=GIB, high=GIB, flops=10**12 * (1 + at), matrix_flops=10**12, bytes_moved=10**9, batch=8)
        seconds = (3 if at % 2 == 0 else 2) * (seconds_per_step(step, on) or 0)
        cards = tuple(card(name).name for name in CARDS[:2])
        found.append(
            LearnedRun(
                job=f"j{at}", time=float(at), card=on.name, need=step, step_seconds=seconds, steps=99, cards=cards
            )
        )
    return found


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))


def test_a_job_is_kept_once_and_broken_lines_are_passed_by(tmp_path: Path) -> None:
    kept = History(tmp_path / "new")
    first, second = history(2)
    assert kept.add(first) and not kept.add(first) and kept.add(second)
    with kept.path.open("ab") as file:
        file.write(b'{"job": "half')
    assert kept.runs() == (first, second)
    assert kept.path.stat().st_mode & 0o077 == 0


def test_the_policy_decides_who_decides_and_it_is_told_until_then(tmp_path: Path, services: Services) -> None:
    (tmp_path / "paddle-gpu.yaml").write_text("scheduler: {algorithm: rl_based}\n")
    assert not services.policy.experience.active
    assert "learned_young" in [note.code for note in services.policy_report().notes]
    for run in history(60):
        services.learned.history.add(run)
    assert services.policy.experience.active, "the file has changed meanwhile, and it has proven itself"
    assert "learned_young" not in [note.code for note in services.policy_report().notes]
    report = services.learned_report(replayed=True)
    assert (report.asked, report.active, report.kept, report.measured) == (True, True, 60, 60)
    rows = LearnedView(report, find).rows(Speech("en"))
    assert [row[0] for row in rows][:1] == ["every step"] and {row[0] for row in rows} >= {"T4 16GB", "A100 SXM 80GB"}
    assert len(ReplayView(report, find).rows(Speech("en"))) == len(report.replayed) == 50
    home_grown = msgspec.structs.replace(report.replayed[0], card="Ascend 910B2", rules="MLU370-X8", learned="")
    (row,) = ReplayView(msgspec.structs.replace(report, replayed=(home_grown,)), find).rows(Speech("en"))
    assert row[1] == "Ascend 910B2 (not checked on hardware)" and row[4].endswith(
        "s, MLU370-X8 (not checked on hardware)"
    )
    services.learned_export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["job"] for line in lines] == [f"j{at}" for at in range(60)]
    aside = services.learned_reset()
    assert len(aside.read_text().splitlines()) == 60
    assert not services.policy.experience.active and services.learned_report().kept == 0
    with pytest.raises(PaddleGpuError, match="Nothing was learned"):
        services.learned_reset()
    services.close()


def test_the_rules_decide_where_nobody_asked_and_the_report_offers_it(services: Services) -> None:
    for run in history(60):
        services.learned.history.add(run)
    assert not services.policy.experience.active
    view = LearnedView(services.learned_report(), find)
    assert "learned_offer" in [one.code for one in view.sentences(Speech("en"))]
    services.close()


def ended(**result: object) -> tuple[Job, JobResult, Inventory]:
    step = Need(low=GIB, high=20 * GIB, flops=10**12, bytes_moved=10**9)
    spec = JobSpec(name="a", notebook="/a", output="/o", folder="/", engine="local", need=step)
    job = Job(id="j", spec=spec, state="running", created=0, updated=0, device_ids=("GPU-1",))
    seen = DeviceSummary(id="GPU-1", memory_peak_bytes=18 * GIB, power_mean_watts=200.0)
    fields = {"reason": "succeeded", "seconds": 50.0, "steps_seen": 100, "step_seconds": 0.4}
    statistics = StatisticsSummary(samples=9, devices=(seen,))
    known = JobResult(**{**fields, "statistics": statistics, **result})  # type: ignore[arg-type]
    host = HostSample(cpu_count=1, cpu_percent=0, memory_total=GIB, memory_available=GIB)
    devices = tuple(
        Device(id=f"GPU-{at}", index=at, vendor="nvidia", name=name, memory_total=size * GIB, memory_free=0)
        for at, (name, size) in enumerate((("Tesla T4", 15), ("NVIDIA A100-SXM4-80GB", 80), ("Tesla V100", 32)))
    )
    return job, known, Inventory(time=time.time(), host=host, devices=devices)


def test_a_job_leaves_its_step_its_seconds_its_energy_and_the_cards_that_it_fitted() -> None:
    run = remembered(*ended(), Policy())
    assert run is not None
    assert (run.card, run.step_seconds, run.steps, run.peak_bytes) == ("A100 SXM 80GB", 0.4, 100, 18 * GIB)
    assert run.energy_joules == 200.0 * 50.0
    assert len(run.cards) == 2, "the T4 is too small"


def test_a_job_that_shared_its_card_teaches_nothing_of_a_steps_time() -> None:
    job, result, here = ended()
    part = DeviceShare(bytes=20 * GIB, most=68 * GIB, total=80 * GIB)
    run = remembered(msgspec.structs.replace(job, shares=(part,)), result, here, Policy())
    alone = remembered(job, result, here, Policy())
    assert run is not None and alone is not None and run.peak_bytes == 18 * GIB
    assert is_measured(alone) and not is_measured(run)


def test_a_server_that_finds_a_job_ended_keeps_it_once(services: Services, tmp_path: Path) -> None:
    job, result, here = ended()

    class Cards:
        def read(self) -> Reading:
            return Reading(devices=here.devices)

        def close(self) -> None:
            pass

    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards()])
    for _ in range(2):
        services._learn(job, result)
    services._learn(msgspec.structs.replace(job, id="on-cpu", device_ids=()), result)
    assert [run.job for run in services.learned.history.runs()] == ["j"]
    assert services.policy.experience.expect(job.spec.need, "NVIDIA A100-SXM4-80GB").likely == 0.4  # type: ignore[arg-type,union-attr]
    services.close()


def test_a_failed_job_is_kept_with_its_reason_and_a_short_one_without_seconds() -> None:
    failed = remembered(*ended(reason="device_out_of_memory", steps_seen=3), Policy())
    assert failed is not None and (failed.outcome, failed.step_seconds) == ("device_out_of_memory", None)


def test_what_ran_on_a_slice_a_simulated_card_or_none_that_is_known_is_not_kept() -> None:
    job, result, here = ended()
    for change in ({"simulated": True}, {"parent": "GPU-9"}, {"id": "GPU-7"}):
        devices = tuple(msgspec.structs.replace(one, **change) if one.id == "GPU-1" else one for one in here.devices)
        assert remembered(job, result, msgspec.structs.replace(here, devices=devices), Policy()) is None


def test_seconds_on_the_processor_are_none_of_a_card() -> None:
    without = {"paddle_version": "3.3.1", "cuda_version": None, "host_allocated_bytes": 4096}
    assert remembered(*ended(**without), Policy()) is None
    assert remembered(*ended(**{**without, "cuda_version": "12.6"}), Policy()) is not None
