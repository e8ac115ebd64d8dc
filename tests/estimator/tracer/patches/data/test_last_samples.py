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
RAGGED = HEAD.replace("return self.rows[i], np", "return self.rows[i][:5 + (i < 120)], np").replace(
    "net =", "first = lambda samples: (np.zeros([10, 6], 'float32'), np.ones([10], 'int64'))\nnet ="
)
RAGGED = RAGGED.format(count=121, rows=121, options="{options}")
CASES = {
    "short": HEAD.format(count=100, rows=95, options=""),
    "short with workers": HEAD.format(count=100, rows=95, options=", num_workers=2"),
    "whole": HEAD.format(count=100, rows=100, options=""),
    "one of another shape": RAGGED.format(options=", shuffle=True"),
    "one of another shape, which others are not put together with": RAGGED.format(
        options=", shuffle=True, collate_fn=first"
    ),
    "one of another shape in a batch of its own": RAGGED.format(options=""),
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


def test_a_sample_of_another_shape_meets_others_where_they_are_shuffled(traced):
    row = traced["one of another shape"]
    assert (row["status"], row["stop"]["line"], row["stop"]["hangs"]) == ("ok", 13, True)
    assert row["stop"]["error"] == "ValueError: all input arrays must have the same shape"
    for name in ("which others are not put together with", "in a batch of its own"):
        found = next(one for key, one in traced.items() if key.endswith(name))
        assert (found["status"], found["stop"]) == ("ok", None)


def test_what_is_there_or_never_read_stops_nothing(traced):
    assert traced["whole"]["stop"] is None
    assert traced["short of what is dropped"]["stop"] is None
    assert traced["whole"]["peak"] == traced["short"]["peak"]
