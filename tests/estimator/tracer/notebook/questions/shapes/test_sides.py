"""Of the sizes of pictures that stand in code, what the training may use comes before what it cannot."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

DRAWN = """
import os
import cv2, numpy as np, paddle
from paddle import nn
def drawn(mode):
    if mode == 'train':
        img_size = 320 + np.random.choice(np.arange(10)) * 32
    else:
        img_size = 608
    return img_size
class Insects(paddle.io.Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)
        self.img_size = 64  # drawn(mode)
    def __getitem__(self, i):
        img = cv2.imread(self.names[i])
        high, wide, _ = img.shape
        img = cv2.resize(img, None, None, fx=self.img_size / float(wide), fy=self.img_size / float(high))
        return img.astype('float32').transpose((2, 0, 1)), np.array([i % 7])
    def __len__(self):
        return len(self.names)
loader = paddle.io.DataLoader(Insects('absent'), batch_size=4)
net = nn.Sequential(nn.Conv2D(3, 8, 3), nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 7))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for img, kind in loader:
    loss = nn.functional.cross_entropy(net(img), kind)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("trace", {"unnamed": DRAWN, "sum": DRAWN.replace("  # drawn(mode)", "\n        drawn('train')")})


def _first(found):
    return found["questions"][0]["suggestion"].split()[0]


def test_a_size_that_only_a_function_knows_which_nothing_calls_is_none(found):
    assert _first(found["unnamed"]) == "float32[4,3,64,64]"


def test_the_first_part_of_a_sum_is_no_size(found):
    """The function is called here, and what it returns else is said with its 608."""
    assert _first(found["sum"]) == "float32[4,3,608,608]"
