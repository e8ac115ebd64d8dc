"""Tensors made of Python's and numpy's values, with the type that Paddle gives them."""

import json

import pytest

pytestmark = pytest.mark.paddle

TYPES = (
    "'float64'",
    "np.float64",
    "np.dtype('float32')",
    "paddle.int64",
    "np.int64",
    "np.float16",
    "np.uint16",
    "bool",
)
CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, paddle
import tracer
SOURCE = '''
import numpy as np, paddle
net = paddle.nn.Linear(1, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
made = paddle.to_tensor([1], dtype=%s)
for step in range(3):
    net(paddle.ones([len(str(made.dtype)), 1])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
'''
for name in json.load(sys.stdin):
    real = len(str(paddle.to_tensor([1], dtype=eval(name)).dtype))
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": SOURCE % name}], "target": "cpu"})
    print(json.dumps([name, [found["status"], found.get("batch_size"), real]]))
"""


@pytest.fixture(scope="module")
def made(run_code):
    return run_code(CHILD, json.loads(json.dumps(TYPES)))


@pytest.mark.parametrize("name", TYPES)
def test_a_type_may_be_any_name_that_paddle_knows_it_by(made, name):
    """numpy's classes, too: `to_tensor([1], dtype=np.float64)`."""
    status, size, real = made[name]
    assert (status, size) == ("ok", real)


DRAWN = """
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
bounds = paddle.log(paddle.to_tensor((0.3, 3.0)))
for step in range(3):
    net(paddle.empty([8, 4]).uniform_({low}, {high})).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_bounds_that_are_tensors_are_not_known(run_child):
    """What Paddle says of one without memory is no word on its number; of two that are typed it is."""
    sources = {
        "tensors": DRAWN.format(low="bounds[0]", high="bounds[1]"),
        "typed": DRAWN.format(low="2.0", high="1.0"),
    }
    found = run_child("trace", sources)
    assert (found["tensors"]["status"], found["tensors"]["stop"]) == ("ok", None)
    assert found["typed"]["status"] == "would_stop"
