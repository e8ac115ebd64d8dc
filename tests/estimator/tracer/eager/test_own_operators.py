"""Operators that a program defines by `PyLayer`, data sets that give no numbers, tensors that are not followed: beside
what a real run says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.refusals.running import ROOT
from jupyter_paddle_gpu.estimator.translate import UNTRACEABLE

pytestmark = pytest.mark.paddle

TRAINING = """
linear = paddle.nn.Linear(6, 6)
optimizer = paddle.optimizer.SGD(0.1, parameters=linear.parameters())
for batch in {data}:
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LAYER = """
import paddle, numpy as np
class Both(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        {forward}
        return x * 2, (x > 0).astype("int64")
    @staticmethod
    def backward(ctx, {gradients}):
        return {back}
"""
RANDOM = TRAINING.format(
    data="(paddle.rand([4, 6]) for _ in range(4))", loss="Both.apply(linear(batch), paddle.ones([4, 6]))[0].mean()"
)
SAMPLES = """
import paddle, numpy as np
class Samples(paddle.io.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, place):
        return {sample}
"""
LOADED = TRAINING.format(data="paddle.io.DataLoader(Samples(), batch_size=8)", loss="linear(batch[0]).mean()")


def _layer(forward: str = "pass", gradients: str = "first, second", back: str = "first * 2, None") -> str:
    return LAYER.format(forward=forward, gradients=gradients, back=back) + RANDOM


ENDS = {
    "a gradient for what wants none": _layer(back="first * 2, first"),
    "a gradient too few": _layer(gradients="first"),
    "texts": SAMPLES.format(sample="np.full([6], 'float32'), np.int64(0)") + LOADED,
    "objects": SAMPLES.format(sample="np.array([None] * 6), np.int64(0)") + LOADED,
}
RUNS = {
    "gradients of zeros": _layer(),
    "one that is marked": _layer("ctx.mark_non_differentiable(x)"),
    "numbers": SAMPLES.format(sample="np.full([6], 1.0, 'float32'), np.int64(0)") + LOADED,
}
SPARSE = """
import paddle
graph = paddle.sparse.sparse_coo_tensor([[0, 1, 2], [1, 2, 0]], [1.0, 2.0, 3.0], [4, 4])
graph = paddle.sparse.multiply(graph.to_sparse_csr(), graph.to_sparse_csr())
""" + TRAINING.format(data="(paddle.rand([4, 6]) for _ in range(4))", loss="(graph.to_dense() @ linear(batch)).mean()")


@pytest.fixture(scope="module")
def answers() -> dict:
    sent = [{"name": name, "source": source} for name, source in {**ENDS, **RUNS, "sparse": SPARSE}.items()]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    text = "".join(json.dumps(one) + "\n" for one in sent)
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: (row["real"], row["traced"]) for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", ENDS)
def test_it_ends_at_the_same_line(answers: dict, name: str) -> None:
    real, traced = answers[name]
    assert real["ended"] == "refused"
    assert (traced["ended"], traced.get("line"), traced.get("error")) == ("refused", real["line"], real["error"])


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_runs(answers: dict, name: str) -> None:
    assert [one["ended"] for one in answers[name]] == ["ran", "ran"]


def test_an_operator_that_nobody_has_measured_is_said_not_to_be_followed(answers: dict) -> None:
    """Small real steps may stand for it (`translate.UNTRACEABLE`); the program is not said to fail."""
    real, traced = answers["sparse"]
    assert (real["ended"], traced["ended"]) == ("ran", "unsure")
    assert (traced["why"], json.loads(traced["text"].replace("'", '"'))) == (
        "operator_unfollowed",
        {"operator": "sparse_multiply"},
    )
    assert "operator_unfollowed" in UNTRACEABLE
