"""Sparse tensors of known indices hold what real ones hold, and what Paddle refuses of them is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.refusals.running import ROOT
from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

SCRIPT = """
import numpy as np, paddle
S = paddle.sparse
n = 300
i = np.stack([np.arange(900) % n, (np.arange(900) * 7 + np.arange(900) // n) % n])
i = i[:, np.lexsort((i[1], i[0]))]
a = S.sparse_coo_tensor(i, np.arange(1., 901.).astype('float32'), [n, n])
c = S.sparse_csr_tensor(np.arange(n + 1) * 3, i[1], np.arange(1., 901.).astype('float32'), [n, n])
d, v, drawn = paddle.ones([n, n]), paddle.ones([n]), paddle.rand([40, 40]) + 1
linear = paddle.nn.Linear(300, 2)
optimizer = paddle.optimizer.SGD(0.1, parameters=linear.parameters())
for step in range(6):
    made = {made}
    linear(v).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
MADE = {
    "two formats": "a, c",
    "dense": "a.to_dense()",
    "dense of rows": "c.to_dense()",
    "a function": "S.nn.functional.relu(a)",
    "a layer": "S.nn.ReLU()(a)",
    "of rows": "S.sin(c)",
    "a power": "S.pow(a, 2)",
    "other types": "S.cast(a, 'int32', 'float64')",
    "values": "a.values() * 2 + a.values().sum()",
    "indices": "a.indices() + 1, c.crows() + 1, c.cols() + 1",
    "sum of two": "S.add(a, a)",
    "difference": "S.subtract(a, a)",
    "transposed": "S.transpose(a, [1, 0])",
    "rows transposed": "S.transpose(c, [1, 0])",
    "another shape": "S.reshape(a, [150, 600])",
    "sum": "S.sum(a, 0)",
    "without twins": "S.coalesce(a)",
    "a part": "S.slice(a, [0], [3], [200])",
    "softmax": "S.nn.functional.softmax(c)",
    "to rows": "a.to_sparse_csr()",
    "from rows": "c.to_sparse_coo(2)",
    "from dense": "d.to_sparse_coo(2)",
    "from numbers that are drawn": "drawn.to_sparse_coo(2).to_dense()",
    "what it says of itself": "a.nnz(), a.shape, a.is_sparse_coo(), a.is_same_shape(c)",
}
SOURCES = {name: SCRIPT.replace("{made}", made) for name, made in MADE.items()}
REFUSED = {
    "kinds": "S.sparse_coo_tensor([[0.5, 1.0], [1.0, 0.0]], [1.0, 2.0])",
    "counts": "S.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0, 3.0])",
    "a shape": "S.sparse_coo_tensor([[0, 5], [1, 0]], [1.0, 2.0], [2, 2])",
    "rows": "S.sparse_csr_tensor([0, 1], [1, 0], [1.0, 2.0], [2, 2])",
    "two shapes": "S.add(a, S.sparse_coo_tensor([[0], [0]], [1.0], [2, 2]))",
    "two formats": "S.add(a, c)",
    "no sparse one": "S.nn.functional.relu(d)",
    "a list": "S.sin([1.0])",
    "an axis": "S.sum(a, 7)",
    "a number of elements": "S.reshape(a, [7, 7])",
    "a name": "S.rleu(a)",
    "a product of a CPU": "S.matmul(c, d)",
    "no argument": "S.transpose(a)",
    "dense dimensions": "d.to_sparse_coo(5)",
}
IMAGE = "S.sparse_coo_tensor([[0], [1], [1], [1]], [[1.0, 2.0]], [1, 4, 4, 4, 2])"
UNKNOWN = {
    "a layer that learns": f"S.nn.SubmConv3D(2, 4, 3)({IMAGE})",
    "a mask": "(d * (drawn[0, 0] > 1.5)).to_sparse_coo(2)",
}


@pytest.mark.parametrize("name", SOURCES)
def test_it_holds_what_a_real_one_holds(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["status"] == "ok", traced["questions"]
    assert traced["peak"] == steady(peaks)


@pytest.fixture(scope="module")
def answers() -> dict:
    sent = {name: SCRIPT.replace("{made}", made) for name, made in {**REFUSED, **UNKNOWN}.items()}
    text = "".join(json.dumps({"name": name, "source": source}) + "\n" for name, source in sent.items())
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", REFUSED)
def test_what_paddle_refuses_is_refused_in_its_words(answers, name):
    row = answers[name]
    assert row["real"]["ended"] == "refused"
    assert row["traced"] == row["real"]


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_nobody_computes_is_asked_about(answers, name):
    row = answers[name]
    assert (row["real"]["ended"], row["traced"]["ended"]) == ("ran", "unsure")
    assert row["traced"]["why"] == "operator_unfollowed"
