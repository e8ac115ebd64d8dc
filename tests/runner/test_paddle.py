"""What is learnt from Paddle while it trains: progress and real memory peaks. Small trainings on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("paddle", reason="needs paddlepaddle in the test interpreter")
pytestmark = pytest.mark.paddle
Execute = Callable[..., Any]

DATA = """
import numpy as np, paddle
from sklearn.datasets import load_digits
images, labels = load_digits(return_X_y=True)
data = paddle.io.TensorDataset([paddle.to_tensor(images[:512].astype("float32")), paddle.to_tensor(labels[:512])])
net = paddle.nn.Sequential(paddle.nn.Linear(64, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 10))
adam = paddle.optimizer.Adam(parameters=net.parameters())
"""


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_fit_tells_progress_even_when_it_prints_nothing(execute: Execute, shell: str) -> None:
    run = execute(
        DATA,
        "model = paddle.Model(net)\n"
        "model.prepare(adam, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())\n"
        "model.fit(data, epochs=2, batch_size=64, verbose=0)",
        shell=shell,
        limits={"metric_seconds": 0},
    )
    assert run.result["reason"] == "succeeded", run.log
    metrics = [event for event in run.events if event["type"] == "metric" and "step" in event]
    last = metrics[-1]
    assert (last["epoch"], last["epochs"], last["step"], last["steps"]) == (2, 2, 8, 8)
    assert set(last["metrics"]) == {"loss", "acc"}


def test_fit_goes_on_to_tell_where_it_is_when_its_loss_is_no_number(execute: Execute) -> None:
    run = execute(
        DATA,
        "model = paddle.Model(net)\n"
        "model.prepare(adam, lambda out, label: out.sum() * float('nan'))\n"
        "model.fit(data, epochs=2, batch_size=64, verbose=0)",
        limits={"metric_seconds": 0},
    )
    last = [event for event in run.events if event["type"] == "metric"][-1]
    assert (last["epoch"], last["step"], last["metrics"]) == (2, 8, {"loss": None})


@pytest.mark.parametrize("update", ["adam.step()", "adam.minimize(loss)"])
def test_peaks_of_steady_steps(execute: Execute, update: str) -> None:
    """The peak that the runner reports for a step is the one that Paddle reports when asked around that step."""
    run = execute(
        DATA,
        "import time\n"
        "began = time.perf_counter()\n"
        "core = paddle.base.core\n"
        "x, y = data.tensors\n"
        "peaks = []\n"
        "for _ in range(12):\n"
        "    loss = paddle.nn.functional.cross_entropy(net(x), y)\n"
        "    loss.backward()\n"
        "    peaks.append(core.host_memory_stat_peak_value('Allocated', 0))\n"
        f"    {update}\n"
        "    adam.clear_grad()\n"
        "print(time.perf_counter() - began)\n"
        "print(sorted(peaks[4:])[4])",
        "big = paddle.zeros([4_000_000])\ndel big",
    )
    assert run.result["reason"] == "succeeded", run.log
    told = int(run.texts()[-1])
    assert run.result["steps_measured"] == 10
    assert run.result["steps_seen"] == 12
    assert 0 < 10 * run.result["step_seconds"] < float(run.texts()[-2])
    assert abs(run.result["step_allocated_bytes"] - told) <= 0.02 * told
    assert run.result["host_allocated_bytes"] >= 16_000_000
    assert run.result["device_allocated_bytes"] is None and run.result["paddle_version"]


LOADER = """
import numpy as np
class Images(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, i):
        return np.full((1, 28, 28), i, 'float32'), np.int64(i % 10)
net = paddle.nn.Sequential(paddle.nn.Conv2D(1, 8, 3), paddle.nn.Flatten(), paddle.nn.Linear(8 * 26 * 26, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
core, peaks, kept = paddle.base.core, [], []
for epoch in range(5):
    for x, y in paddle.io.DataLoader(Images(256), batch_size=32):
        paddle.nn.functional.cross_entropy(net(x), y.reshape([-1, 1])).backward()
        kept.append(paddle.ones([1]))
        peaks.append(core.host_memory_stat_peak_value('Allocated', 0))
        optimizer.step()
        optimizer.clear_grad()
    if validates:
        for x, y in paddle.io.DataLoader(Images(256), batch_size=128):
            net(x)
print(max(peaks[index] for index in range(9, 40) if index % 8))
"""


@pytest.mark.parametrize("validates", [False, True])
def test_a_step_is_measured_with_the_batches_that_are_read_ahead(execute: Execute, validates: bool) -> None:
    """Of an epoch of eight batches the last five hold fewer of them, and the first one may come behind a validation."""
    run = execute("import paddle", f"validates = {validates}{LOADER}")
    assert run.result["reason"] == "succeeded", run.log
    assert abs(run.result["step_allocated_bytes"] - int(run.texts()[-1])) <= 0.002 * int(run.texts()[-1])


def test_without_paddle_nothing_is_claimed(execute: Execute) -> None:
    run = execute("import sys\nprint('paddle' in sys.modules)")
    assert run.texts() == ["False"] and "host_allocated_bytes" not in run.result


TRAININGS = """
import paddle
def train(width, steps, batch=8):
    net = paddle.nn.Linear(100, width)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    go_on(net, optimizer, steps, batch)
    return net, optimizer
def go_on(net, optimizer, steps, batch):
    for _ in range(steps):
        net(paddle.ones([batch, 100])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
WIDE = 2 * 4 * 100 * 2000
"""Weights and gradients of a model 2,000 wide, in bytes."""


@pytest.mark.parametrize(
    ("cells", "least", "measured"),
    [
        # A function's optimizer is freed at its end, and the next one may get its place.
        (["train(2000, 6); train(4, 20); train(4, 20)"], WIDE, 4 + 18 + 18),
        (["net, optimizer = train(2000, 30, 1)", "go_on(net, optimizer, 6, 500)"], WIDE + 500 * 2000 * 4, 28 + 4),
        (["train(4, 20)", "train(2000, 4)"], None, 18 + 2),  # too few steps of the larger one
    ],
)
def test_of_several_trainings_the_peak_is_that_of_the_largest(
    execute: Execute, cells: list[str], least: int | None, measured: int
) -> None:
    run = execute(TRAININGS, *cells)
    assert run.result["reason"] == "succeeded", run.log
    told = run.result.get("step_allocated_bytes")
    assert told is None if least is None else told > least
    assert run.result["steps_measured"] == measured
