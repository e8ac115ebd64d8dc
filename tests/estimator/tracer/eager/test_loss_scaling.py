"""A scaler is on where a GPU is meant, with Paddle's own Python and its errors; a CPU switches it off."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.tracer.eager.loss_scaling import TYPES

STEPS = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(100, 300), paddle.nn.ReLU(), paddle.nn.Linear(300, 1))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for step in range(5):
    with paddle.amp.auto_cast({cast}):
        loss = net(paddle.rand([64, 100])).mean()
    scaler.scale(loss).backward()
    {before}
    scaler.step(optimizer)
    {between}
    scaler.update()
    optimizer.clear_grad()
    print("scale", {asked})
"""
PROGRAMS = {
    "state": {"asked": 'scaler.state_dict()["scale"].item()'},
    "enabled": {"asked": "paddle.zeros([1 if scaler.is_enable() else 'off'])"},
    "unscaled": {"before": "scaler.unscale_(optimizer)"},
    "unscaled twice": {"before": "scaler.unscale_(optimizer); scaler.unscale_(optimizer)"},
    "stepped twice": {"between": "scaler.step(optimizer)"},
    "minimized": {"before": "scaler.minimize(optimizer, loss)"},
    "bfloat16 is not scaled": {
        "cast": 'dtype="bfloat16"',
        "asked": "paddle.zeros(['on' if scaler.is_enable() else 1])",
    },
    "gradients of the true size": {"before": "scaler.unscale_(optimizer); net[0].weight.grad.reshape([30000])"},
}
PLAIN = {"cast": "", "before": "", "between": "", "asked": "scaler._scale"}
REFUSED = {
    "unscaled twice": "unscale_() has already been called on this optimizer since the last update().",
    "stepped twice": "step() has already been called since the last update().",
}


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {name: STEPS.format(**PLAIN | parts) for name, parts in PROGRAMS.items()}
    sources["minimized"] = sources["minimized"].replace("    scaler.step(optimizer)\n", "")
    return run_child("trace", sources, {name: {"target": "gpu"} for name in sources})


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in {"unscaled twice", "stepped twice"}])
def test_what_a_gpu_runs_is_estimated(traced, name):
    assert traced[name]["status"] == "ok", traced[name]


@pytest.mark.parametrize("name", ["unscaled twice", "stepped twice"])
def test_what_paddle_says_of_a_scaler_used_twice(traced, name):
    assert traced[name]["status"] == "would_stop"
    assert REFUSED[name] in traced[name]["stop"]["error"]


EPOCHS = """
import paddle
from paddle.io import DataLoader, TensorDataset
net = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024{options})
loader = DataLoader(TensorDataset([paddle.rand([{samples}, 8])]), batch_size=16)
for epoch in range(3):
    for number, (x,) in enumerate(loader):
        with paddle.amp.auto_cast(dtype="{dtype}"):
            loss = net(x).mean()
        scaler.scale(loss).backward()
        {before}
        if (number + 1) % {every} == 0:
            scaler.step(optimizer); scaler.update(); optimizer.clear_grad()
        {late}
    {end}
{after}
"""
AS_USUAL = {
    "options": "", "samples": 64, "dtype": "float16", "every": 2,
    "before": "", "late": "", "end": "", "after": "",
}  # fmt: skip
REST = "if len(loader) % 2: scaler.step(optimizer); optimizer.clear_grad()"
ENDINGS = {
    "an update is forgotten behind the loop": ({"end": "scaler.step(optimizer)"}, (15, "step() has already")),
    "twice behind the loop": ({"end": "scaler.step(optimizer); scaler.step(optimizer)"}, (17, "step() has already")),
    "twice behind the epochs": (
        {"after": "scaler.step(optimizer); scaler.step(optimizer)"}, (18, "step() has already"),
    ),
    "unscaled behind a step": ({"after": "scaler.step(optimizer); scaler.unscale_(optimizer)"}, (18, "unscale_() is")),
    "unscaled twice in a late round": (
        {"every": 1, "late": "if number == 3: scaler.unscale_(optimizer); scaler.unscale_(optimizer)"},
        (16, "unscale_() has"),
    ),
    "unscaled in the epoch before": (
        {"every": 1, "before": "scaler.unscale_(optimizer)", "end": "scaler.unscale_(optimizer)"},
        (13, "unscale_() has"),
    ),
    "batches that are left over": ({"samples": 112, "end": REST}, (15, "step() has already")),
    "no batches are left over": ({"end": REST}, None),
    "with its update": ({"end": "scaler.step(optimizer); scaler.update()"}, None),
    "behind the last epoch alone": ({"end": "if epoch == 2: scaler.step(optimizer)"}, None),
    "unscaled for its norm": ({"every": 1, "end": "scaler.unscale_(optimizer)"}, None),
    "a fixed scale": ({"end": "scaler.step(optimizer)", "options": ", use_dynamic_loss_scaling=False"}, None),
    "bfloat16": ({"end": "scaler.step(optimizer)", "dtype": "bfloat16"}, None),
    "two epochs share a number that nobody computes": (
        {"end": "scaler.step(optimizer)\n    if float(loss) < 0.1: scaler.update()"}, None,
    ),
}  # fmt: skip
"""What stands otherwise in a program, and the line and the beginning of what ends it, as real runs have it."""


@pytest.fixture(scope="module")
def ended(run_child):
    sources = {name: EPOCHS.format(**AS_USUAL | parts) for name, (parts, _) in ENDINGS.items()}
    return run_child("trace", sources, {name: {"target": "gpu"} for name in sources})


@pytest.mark.parametrize("name", ENDINGS)
def test_what_a_scaler_is_called_for_out_of_turn_behind_the_step(ended, name):
    stop, expected = ended[name].get("stop"), ENDINGS[name][1]
    assert ended[name]["status"] == "ok", ended[name]
    if expected is None:
        assert stop is None
    else:
        assert stop["line"] == expected[0]
        assert stop["error"].startswith(f"RuntimeError: {expected[1]}")


@pytest.mark.parametrize("name", ENDINGS)
def test_one_update_more_behind_the_loop_is_no_training_without_gradients(ended, name):
    assert set(ended[name]["notes"]).isdisjoint({"no_gradients", "gradients_add_up"})


def test_a_scale_that_is_no_number_finds_its_gradients_infinite(run_child):
    """Each update prints that it makes the scale smaller then, by `float` of a row of one: newer numpys refuse."""
    source = EPOCHS.format(**AS_USUAL | {"every": 1, "end": "found = bool(scaler._found_inf)\n    assert not found"})
    wrong = source.replace("init_loss_scaling=1024", "init_loss_scaling=None")
    sources = {"right": source, "wrong": wrong}
    traced = run_child("trace", sources, {name: {"target": "gpu"} for name in sources})
    assert traced["right"]["stop"] is None
    assert "scaler.update()" in wrong.split("\n")[traced["wrong"]["stop"]["line"] - 1]


def test_a_cpu_has_no_scaler(run_child):
    """As a real run there: its state is empty, and what is asked twice is not refused."""
    sources = {name: STEPS.format(**PLAIN | PROGRAMS[name]) for name in ("state", "unscaled twice")}
    found = run_child("trace", sources)
    assert found["state"]["status"] == "would_stop" and "KeyError" in found["state"]["stop"]["error"]
    assert found["unscaled twice"]["status"] == "ok"


def test_paddle_gives_gradients_in_three_types():
    paddle = pytest.importorskip("paddle")
    parameters = [paddle.create_parameter([2], dtype) for dtype in ("float32", "float64")]
    paddle.add_n([parameter.astype("float32").sum() for parameter in parameters]).backward()
    by_type = paddle.base.core.eager.get_grads_lists(parameters)
    assert [len(grads) for grads in by_type] == [0, 0, 1] and len(by_type) == len(TYPES)
