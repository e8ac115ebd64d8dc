"""Which words of an error are paths that are not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle
SOURCES = {
    "sentence of Paddle": "import paddle\n"
    "init = paddle.nn.initializer.KaimingNormal(fan_in=3, mode='fan_out')\n"
    "net = paddle.nn.Linear(3, 2)\n"
    "net(paddle.ones([4, 3])).sum().backward()",
    "path": "import paddle\n"
    "if True:\n    raise ValueError('no pictures in data/flowers')\n"
    "net = paddle.nn.Linear(3, 2)\n"
    "net(paddle.ones([4, 3])).sum().backward()",
    "seed": "import json, random\nimport numpy as np, paddle\n"
    "seed = json.load(open('absent.json'))['seed']\n"
    "random.seed(seed), np.random.seed(seed), paddle.seed(seed)\n"
    "net = paddle.nn.Linear(3, 2)\n"
    "optimizer = paddle.optimizer.SGD(parameters=net.parameters())\n"
    "for _ in range(3):\n"
    "    net(paddle.ones([4, 3])).sum().backward()\n    optimizer.step()\n    optimizer.clear_grad()",
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES)


def test_what_paddle_says_with_a_slash_is_no_path(traced):
    found = traced["sentence of Paddle"]
    assert (found["status"], found["stop"]["line"]) == ("would_stop", 2)
    assert "KaimingNormal/KaimingUniform" in found["stop"]["error"]


def test_what_the_notebook_says_may_be_one(traced):
    assert traced["path"]["stop"] is None


def test_a_seed_sizes_nothing(traced):
    assert (traced["seed"]["status"], traced["seed"]["questions"]) == ("ok", [])
