"""Numbers that are known without training reach what hangs on them: sizes, counts, places."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
paddle.seed(0)
model = paddle.nn.Linear(40, 60)
optimizer = paddle.optimizer.SGD(1e-6, parameters=model.parameters())
for step in range(6):
    rows = model(paddle.ones([12, 40]))
    {chosen}
    loss = paddle.tanh(rows).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WRITTEN = """mask = paddle.zeros([2, 6])
    for i in range(2):
        mask[i, : 2 + i] = 1
    groups = paddle.zeros([2, 12, 1])
    groups[:, 6:] = 1
    places = (1 - groups).squeeze(-1) * paddle.tile(mask, [1, 2])
    rows = paddle.gather(rows, paddle.nonzero(places)[:, 1])"""
SOURCES = {
    "mask that is written": SCRIPT.format(chosen=WRITTEN),
    "sizes in a list": SCRIPT.format(
        chosen="size = paddle.shape(rows); rows = rows * paddle.ones([1, 1]).tile([size[0], size[1]])"
    ),
    "sizes beside numbers": SCRIPT.format(
        chosen="rows = paddle.expand(rows.unsqueeze(1), [paddle.shape(rows)[0], 3, rows.shape[1]])"
    ),
    "number of dimensions": SCRIPT.format(
        chosen="rows = paddle.expand(rows.unsqueeze(1), [12, int(paddle.rank(rows)) + 1, 60])"
    ),
    "permutation of a count": SCRIPT.format(
        chosen="rows = paddle.gather(rows, paddle.randperm(paddle.nonzero(paddle.ones([7])).numel()))"
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_step_is_the_real_one(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["status"] == "ok"
    assert traced["peak"] == pytest.approx(peaks[-1], abs=32)
    assert not {"unknown_shape", "unknown_shape_line"} & set(traced["notes"])
