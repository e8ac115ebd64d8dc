"""Blocks that are computed again within `DataParallel`, beside two real processes: Paddle refuses them by `PyLayer`,
whose gradients come to parameters that the outputs do not hang on."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.patches.distributed.test_sharding import (
    ADAM,
    BLOCKS,
    HEAD,
    NO_SYNC,
    START,
    STEP,
    run_processes,
)

pytestmark = pytest.mark.paddle

PARALLEL = "model = paddle.DataParallel(layers)"
FED = BLOCKS.replace(
    "nn.Linear(300, 600)\n", "nn.Linear(300, 600)\n        self.first = nn.Linear(300, 300)\n"
).replace("        for block", "        x = self.first(x)\n        for block")


def again(model: str, options: str = "") -> str:
    return model.replace("x = block(x)", f"x = fleet.utils.recompute(block, x{options})")


def script(model: str, step: str = STEP) -> str:
    data = "x = paddle.rand([256, 300])"
    return HEAD.format(start=START, model=model, optimizer=ADAM, wrap=PARALLEL, data=data, step=step)


SOURCES = {
    "by a PyLayer": script(again(FED)),
    "by hooks": script(again(FED, ", use_reentrant=False")),
    "not gathered": script(again(FED), step=NO_SYNC.replace("model(x[128:])", "layers(x[128:])")),
    "plain": script(FED),
}


def test_what_two_processes_refuse_is_refused(run_child, paddle_python):
    real = run_processes(paddle_python, SOURCES)[0]
    asked = {name: {"devices": 2, "target": "cpu"} for name in SOURCES}
    traced = run_child("trace", SOURCES, asked)
    ran = {name: row["failure"] is None for name, row in real.items()}
    assert ran == {"by a PyLayer": False, "by hooks": True, "not gathered": True, "plain": True}
    assert {name: row["status"] == "ok" for name, row in traced.items()} == ran
    alone = run_child("trace", SOURCES)
    assert {row["status"] for row in alone.values()} == {"ok"}
    said = "has been ready before. Please set find_unused_parameters=True"
    number = traced["by a PyLayer"]["stop"]["error"].partition("parameter")[2].partition("]")[0]
    assert f"parameter{number}]" in real["by a PyLayer"]["failure"] and said in real["by a PyLayer"]["failure"]
    assert said in traced["by a PyLayer"]["stop"]["error"]
