"""A training that fits no card here: the cell says what would, of the notebook's cells and of the kernel's objects."""

from __future__ import annotations

import re

import pytest

GIB = 1 << 30
WIDE = """
import paddle
BATCH_SIZE = 100_000
net = paddle.nn.Sequential(paddle.nn.Linear(1000, 4000), paddle.nn.ReLU(), paddle.nn.Linear(4000, 10))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
x = paddle.zeros([4, 1000])
"""


@pytest.mark.paddle
def test_what_would_fit_is_said_of_live_objects(kernel, stand_in, tmp_path):
    world = tmp_path / "world"
    world.write_text(f"count 2\ntotal 0 {2 * GIB}\ntotal 1 {2 * GIB}\n")
    running = kernel(NVML_STAND_IN=str(world), LD_LIBRARY_PATH=str(stand_in / "new"))
    assert not running.run(WIDE)[2]
    text, rich, errors = running.run("%paddle_gpu estimate net optimizer x --batch-size 100000")
    assert not errors
    said = text + rich[0]["text/plain"]
    assert re.search(r"Needs .* GiB; the largest card here offers at most 1\.20 GiB\.", said), said
    assert re.search(r"Fits with batch size [\d,]+\.", said), said
    assert "--details" not in said
