"""The simulator of `make bench-scheduling` on a small synthetic place: it repeats itself, and its starts hold."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.scheduling import workload
from benchmarks.scheduling.simulate import SCHEDULERS, simulate


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> workload.Place:
    monkeypatch.delenv(workload.VARIABLE, raising=False)
    monkeypatch.setattr(workload, "TASKS", 70)
    return workload.build(3)


def test_each_scheduler_ends_every_task_and_repeats_itself(place: workload.Place) -> None:
    assert place.source == "synthetic" and len(place.tasks) == 70
    outcomes = {name: simulate(place, name, 3) for name in SCHEDULERS}
    assert outcomes["rules"] == simulate(place, "rules", 3)
    for name, found in outcomes.items():
        assert 0 < found.utilisation <= 1 and 0 < found.fairness <= 1, name
    assert outcomes["rules"].failures == outcomes["learned"].failures == 0
    assert outcomes["kueue"].waiting <= outcomes["fifo"].waiting
    assert outcomes["rules"].waiting <= outcomes["fifo"].waiting


def test_people_who_do_not_look_at_memory_run_out_of_it(place: workload.Place) -> None:
    for task in place.tasks:
        task.peak = task.peak + (20 << 30)
        task.need = msgspec.structs.replace(task.need, low=task.peak, high=task.peak)
        task.asked = frozenset()
    tasks = [task for task in place.tasks if task.peak < 60 << 30 and task.count == 1]
    place.tasks = tasks[:20]
    assert simulate(place, "fifo", 0).failures > 0
    assert simulate(place, "rules", 0).failures == 0
