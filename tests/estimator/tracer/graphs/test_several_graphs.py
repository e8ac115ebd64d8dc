"""Several trainings in static mode in one notebook, and evaluations between them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

BUILD = """
import numpy as np, paddle
paddle.enable_static()
def build(width):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x, y = paddle.static.data("x", [None, 16]), paddle.static.data("y", [None, 1])
        loss = paddle.nn.functional.mse_loss(paddle.static.nn.fc(paddle.static.nn.fc(x, width), 1), y)
        test_program = main.clone()
        paddle.optimizer.SGD(0.1).minimize(loss)
    return main, startup, test_program, loss
def batch(size):
    return {"x": np.zeros([size, 16], "float32"), "y": np.zeros([size, 1], "float32")}
exe = paddle.static.Executor()
#---
"""
TRAIN = """
main, startup, test_program, loss = build({width})
exe.run(startup)
for step in range(20):
    shown, = exe.run(main, feed=batch({batch}), fetch_list=[loss])
    if shown < 0.1:
        break
#---
for step in range(20):
    exe.run(test_program, feed=batch(256))
#---
"""
SOURCES = {"two": BUILD + TRAIN.format(width=100, batch=4) + TRAIN.format(width=1000, batch=8)}


def test_each_training_is_listed_and_no_evaluation(run_child):
    row = run_child("trace", SOURCES)["two"]
    assert row["status"] == "ok"
    places = [where for _, where, _ in row["trainings"].values()]
    assert sorted(where["cell"] for where in places) == [1, 3]
    assert row["batch_size"] == 8
    assert not row["unreached"]
