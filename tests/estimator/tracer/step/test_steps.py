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


SIZES = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}]})
    print(json.dumps([name, [found["inputs"] + [found["image_size"]], [note["code"] for note in found["notes"]]]]))
"""
IN_TURN = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten())
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
sizes = {sizes}
for step in range({steps}):
    x = paddle.rand([4, 3, sizes[step % len(sizes)], 32])
    net(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ORDERS = {
    "last": ([32, 48, 64], 9, 64),
    "first": ([64, 48, 32], 9, 64),
    "once each": ([32, 48, 64], 3, 64),
    "two alone": ([64, 32], 2, 64),
    "two that grow": ([32, 64], 2, 64),
    "one": ([32], 9, 32),
    "other": ([32, 48, 32, 32, 40], 30, 48),
    "never again": (list(range(16, 116)), 100, 31),
}


def test_of_sizes_in_turn_the_largest_is_the_step(run_code):
    """Sizes that come again are all seen; where they go on changing, that is told."""
    found = run_code(SIZES, {name: IN_TURN.format(sizes=o, steps=n) for name, (o, n, _) in ORDERS.items()})
    for name, (_, _, largest) in ORDERS.items():
        inputs, notes = found[name]
        assert inputs[0] == f"float32[4, 3, {largest}, 32]", name
        assert ("sizes_vary" in notes) == (name == "never again"), name


DETECTOR = """
import paddle
class Detector(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = paddle.nn.Conv2D(3, 18, 3, stride=8, padding=1)
    def forward(self, inputs):
        return ((self.net(inputs["image"]).reshape([4, 3, 6, 8, 8]) - inputs["target0"]) ** 2).mean()
net = Detector()
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(3):
    net({"image": paddle.rand([4, 3, 64, 64]), "target0": paddle.rand([4, 3, 6, 8, 8])}).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_the_size_is_that_of_a_calls_picture_and_not_of_its_targets(run_code):
    inputs, _ = run_code(SIZES, {"targets": DETECTOR})["targets"]
    assert inputs[-1] == [64, 64]


CUT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}]})
    print(json.dumps([name, [[one["code"], one["params"]] for one in found["notes"]]]))
"""


def test_an_error_behind_the_first_step_that_hangs_on_numbers_is_told(run_code):
    rows = HEAD + LOOP + "    [1, 2][int(1e6 * float(net(x).mean()))]\n"
    once = HEAD + LOOP.replace("range(5)", "range(1)")
    ends = ("exit()", "exit(0)", "import sys\nsys.exit()")
    found = run_code(CUT, {"an index": rows, "one step": once, **{end: f"{once}{end}\n" for end in ends}})
    assert all(found[name] == [["few_steps", {}]] for name in ("one step", *ends))
    error = "IndexError: list index out of range"
    assert ["step_cut", {"cell": 1, "line": rows.count("\n"), "error": error}] in found["an index"]
