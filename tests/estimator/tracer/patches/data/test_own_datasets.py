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

SOURCES["drawn by a sampler"] = """
import os, random
import paddle
class People(paddle.io.Dataset):
    def __init__(self, folder):
        if not os.path.exists(folder):
            raise RuntimeError(f"'{folder}' is not available")
        self.images = os.listdir(folder)
        self.labels = [int(name[:4]) for name in self.images]
    def __getitem__(self, number):
        return paddle.vision.image_load(self.images[number]).resize((64, 64)), self.labels[number]
    def __len__(self):
        return len(self.images)
class Several(paddle.io.BatchSampler):
    def __init__(self, people, batch_size):
        self.batch_size, self.length = batch_size, 0
        if isinstance(people.labels, list):
            self.length = len(people.labels)
    def __iter__(self):
        for _ in range(len(self)):
            yield random.sample(range(self.length), self.batch_size)
    def __len__(self):
        return self.length // self.batch_size
people = People("data/people")
loader = paddle.io.DataLoader(people, batch_sampler=Several(people, 16))
net = paddle.nn.Sequential(
    paddle.nn.Conv2D(3, 8, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten(), paddle.nn.Linear(8, 10)
)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
def train():
    for number, (picture, label) in enumerate(loader):
        paddle.nn.functional.cross_entropy(net(picture), label).backward()
        optimizer.step()
        optimizer.clear_grad()
if len(loader) > 0:
    train()
"""


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


def test_a_sampler_that_has_nothing_to_draw_from_hides_no_training(traced):
    found = traced["drawn by a sampler"]
    assert (found["status"], [one["name"] for one in found["questions"]]) == ("needs_input", ["loader"])
