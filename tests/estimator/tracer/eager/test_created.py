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
