"""What is alive when a step ends does not hang on how the traced program is brought to its end."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import gc, json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin).items():
    (gc.disable if "kept" in name else gc.enable)()
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}]})
    ends = [s[2] for s in found["storages"] if s[4] == "uniform" and s[6] == [16, 300]]
    print(json.dumps([name, [sorted(ends), len(found["operations"])]]))
"""
HEAD = """
import paddle
class Net(paddle.nn.Layer):  # a class refers to the notebook's names, and they to it: only a collection ends them
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(300, 2)
    def forward(self, x):
        return self.linear(x)
net = Net()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
def train(x):
    net(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LOOP = "for turn in range(5):\n    x = paddle.rand([16, 300])\n    train(x)\n"
SOURCES = {
    "collected": HEAD + LOOP,
    "kept": HEAD + LOOP,
    "collected in a function": HEAD
    + "def loop():\n"
    + "".join(f"    {line}\n" for line in LOOP.splitlines())
    + "loop()\n",
}


def test_a_batch_lives_until_the_next_one_takes_its_name(run_code):
    """One batch of the step before ends with the first operation, the step's own one stays behind the last."""
    found = run_code(CHILD, SOURCES)
    for name, (ends, operations) in found.items():
        assert ends == [0, operations], name


OPTIMIZERS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}]})
    print(json.dumps([name, sorted({one[0] for one in found["operations"]})]))
"""
LATE = """
import paddle
first, second = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)
one = paddle.optimizer.SGD(parameters=first.parameters())
other = paddle.optimizer.{kind}(parameters=second.parameters())
for step in range(40):
    second(first(paddle.rand([2, 4]))).mean().backward()
    one.step()
    one.clear_grad()
    if step > 5:
        other.step()
        other.clear_grad()
"""


def test_every_optimizer_is_known_from_its_constructor_on(run_code):
    """`AdamW.__init__` does not call that of its base."""
    found = run_code(OPTIMIZERS, {kind: LATE.format(kind=kind) for kind in ("Adam", "AdamW")})
    assert "adam_" in found["Adam"]
    assert "adamw_" in found["AdamW"]
