"""Programs in static mode that Paddle itself refuses, most of them while they are built, and what is not followed."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
paddle.enable_static()
x = paddle.static.data("x", [None, 16])
y = paddle.static.data("y", [None, 1])
"""
TRAINS = """
loss = paddle.nn.functional.mse_loss(paddle.static.nn.fc(x, 1), y)
{optimizer}
optimizer.minimize(loss)
exe = paddle.static.Executor()
{startup}
for step in range(4):
    exe.run(feed={{"x": np.zeros([4, 16], "float32"){more}}}, fetch_list=[{fetch}])
"""
FITS = {
    "optimizer": "optimizer = paddle.optimizer.SGD(0.1)",
    "startup": "exe.run(paddle.static.default_startup_program())",
    "more": ', "y": np.zeros([4, 1], "float32")',
    "fetch": "loss",
}
SCALED = FITS["optimizer"] + "\noptimizer = paddle.static.amp.decorate(optimizer, init_loss_scaling=128.0)"
REFUSED = {
    "convolution": (HEAD + "h = paddle.static.nn.conv2d(x, 6, 3)", 6, "AssertionError: paddle.static.nn.conv2d"),
    "shapes": (HEAD + "h = paddle.matmul(x, paddle.create_parameter([17, 3], 'float32'))", 6, "(InvalidArgument)"),
    "name": (HEAD + TRAINS.format(**{**FITS, "fetch": "loss.name"}), 13, "we can only get name of Value"),
    "text": (HEAD + TRAINS.format(**{**FITS, "fetch": "'loss'"}), 13, "doesn't have fetch op"),
    "unfed": (HEAD + TRAINS.format(**{**FITS, "more": ""}), 13, "KeyError: 'y'"),
    "scaled": (HEAD + TRAINS.format(**{**FITS, "optimizer": SCALED}), 10, "(InvalidArgument)"),
}
READS = "paddle.static.global_scope().find_var(net.weight.name).get_tensor()"
SAVES = """
paddle.static.save(paddle.static.default_main_program(), "program")
paddle.static.save_inference_model("program", [x], [loss], exe)
paddle.static.load(paddle.static.default_main_program(), "program")"""
NOT_FOLLOWED = {
    "scope": HEAD
    + "net = paddle.nn.Linear(16, 1)\n"
    + TRAINS.format(**{**FITS, "startup": FITS["startup"] + f"\nbefore = np.array({READS})"}),
    "precision": HEAD + "with paddle.amp.auto_cast():\n    h = paddle.static.nn.fc(x, 1)",
}
SOURCES = (
    {name: source for name, (source, *_) in REFUSED.items()}
    | NOT_FOLLOWED
    | {
        "fits": HEAD + TRAINS.format(**FITS),
        "saved": HEAD + TRAINS.format(**{**FITS, "startup": FITS["startup"] + SAVES}),
    }
)


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


@pytest.fixture(scope="module")
def real(run_child):
    return run_child("real", {name: source for name, (source, *_) in REFUSED.items()})


@pytest.mark.parametrize("name", REFUSED)
def test_what_paddle_refuses_is_a_stop_with_its_line(traced, real, name):
    _, line, said = REFUSED[name]
    row = traced[name]
    assert row["status"] == "would_stop"
    assert (row["stop"]["cell"], row["stop"]["line"]) == (0, line)
    assert said in row["stop"]["error"]
    assert said.removeprefix("KeyError: ") in real[name]["failure"]


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_not_followed_has_no_figure(traced, name):
    assert traced[name]["status"] == "static_graph"


def test_programs_are_written_and_read_without_what_is_in_them(traced):
    assert (traced["saved"]["status"], traced["saved"]["stop"]) == ("ok", None)
    assert "weights_absent" in traced["saved"]["notes"]


def test_the_same_program_without_a_fault_trains(traced):
    assert traced["fits"]["status"] == "ok"


def test_a_what_if_that_changes_the_step_is_not_followed(run_child):
    source = {"fits": SOURCES["fits"]}
    for asked in ({"accumulation": 2}, {"amp": "O1"}, {"recompute": True}):
        assert run_child("trace", source, {"fits": asked})["fits"]["status"] != "ok"
