"""Which stages of a pipeline are traced, and with what."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook.stages import MOST, fullest


class Stages:
    """Answers as a trace does: stage by stage so many bytes, and layers by name."""

    def __init__(self, sizes: list[int], made: list[list[str]]) -> None:
        self._sizes, self._made = sizes, made
        self.asked: list[tuple[int, Any]] = []

    def trace(self, request: dict[str, Any]) -> dict[str, Any]:
        stage = request.get("stage", 0)
        self.asked.append((stage, request.get("received")))
        found = {"status": "ok", "operations": [0], "storages": [[self._sizes[stage], 0, 0]], "stage": stage}
        return {**found, "sent": f"of {stage}", "made": self._made}


@pytest.mark.parametrize("most", range(4))
def test_the_stage_that_takes_most_is_told(monkeypatch, most):
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    stages = Stages([9 if stage == most else 1 for stage in range(4)], [["a"], ["b"], ["c"], ["d"]])
    found = fullest({}, stages.trace)
    assert (found["stage"], "sent" in found, "made" in found) == (most, False, False)
    assert stages.asked == [(0, None), (1, "of 0"), (2, "of 1"), (3, "of 2")]


def test_a_stage_like_an_earlier_one_is_not_traced(monkeypatch):
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    stages = Stages([1] * 5, [["in", "b"], ["b", "b"], ["b", "b"], ["b", "b"], ["b", "out"]])
    fullest({}, stages.trace)
    assert stages.asked == [(0, None), (1, "of 0"), (4, "of 1")]


def test_of_many_unlike_stages_those_with_most_layers_are_traced(monkeypatch):
    monkeypatch.delenv("PADDLE_TRAINER_ID", raising=False)
    made = [[f"{stage}"] * (1 + stage % 3) for stage in range(12)]
    stages = Stages([1] * 12, made)
    fullest({}, stages.trace)
    assert [stage for stage, _ in stages.asked] == [0, 1, 2, 5, 8, 11]
    assert len(stages.asked) == MOST + 2
