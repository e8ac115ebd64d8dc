"""What a condition of data that is not here chooses within a call is of unknown content."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.paddle

SOURCE = """
import numpy as np, paddle
rows, kinds = np.load("rows.npy"), np.load("kinds.npy")
class Data(paddle.io.Dataset):
    def __init__(self, rows, kinds):
        self.rows, self.kinds = rows, kinds
    def __getitem__(self, i):
        return self.rows[i].astype("float32"), self.kinds[i]
    def __len__(self):
        return len(self.kinds)
model = paddle.Model(paddle.nn.Linear(13, 10))
model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
model.fit(Data({rows}, kinds), batch_size=8, epochs=1, verbose=0)
"""
CHOSEN = {
    "how many": "rows[:-9] if len(rows) > 99 else rows",
    "what is in it": "rows if rows.max() > 1 and rows.min() < 0 else rows - 1",
    "neither": "rows",
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells columns from 3.11 on")
def test_a_batch_is_asked_for(run_child):
    """The whole call was given up, and with it the training: there was neither a figure nor a question."""
    found = run_child("trace", {name: SOURCE.replace("{rows}", rows) for name, rows in CHOSEN.items()})
    asked = {name: {one["kind"]: one["suggestion"] for one in found[name]["questions"]} for name in CHOSEN}
    assert asked == {name: {"batch": "float32[8,13] int64[8]"} for name in CHOSEN}
