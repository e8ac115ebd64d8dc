"""A data set that counts more samples than it has ends the job in its first epoch, which is told with the figure."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
class Rows(paddle.io.Dataset):
    def __init__(self, rows):
        self.rows = np.zeros((rows, 6), 'float32')
    def __len__(self):
        return {count}
    def __getitem__(self, i):
        return self.rows[i], np.int64(1)
net = paddle.nn.Linear(6, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Rows({rows}), batch_size=10{options}):
    paddle.nn.functional.cross_entropy(net(x), y).backward(); optimizer.step(); optimizer.clear_grad()
"""
CASES = {
    "short": HEAD.format(count=100, rows=95, options=""),
    "short with workers": HEAD.format(count=100, rows=95, options=", num_workers=2"),
    "whole": HEAD.format(count=100, rows=100, options=""),
    "short of what is dropped": HEAD.format(count=95, rows=92, options=", drop_last=True"),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", CASES, {name: {"target": "cpu"} for name in CASES})


def test_samples_that_are_not_there_end_the_job_behind_its_first_steps(traced):
    for name in ("short", "short with workers"):
        row = traced[name]
        assert row["status"] == "ok"
        assert row["stop"]["error"] == "IndexError: index 99 is out of bounds for axis 0 with size 95"
        assert row["stop"]["line"] == 12
    assert traced["short"]["stop"]["hangs"], "the thread that reads ends, and the loop waits"
    assert "hangs" not in traced["short with workers"]["stop"]


def test_what_is_there_or_never_read_stops_nothing(traced):
    assert traced["whole"]["stop"] is None
    assert traced["short of what is dropped"]["stop"] is None
    assert traced["whole"]["peak"] == traced["short"]["peak"]
