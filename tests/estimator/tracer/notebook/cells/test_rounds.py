"""How many rounds a loop has that trains anew in each, where its data is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

FOLDS = """
import numpy as np
import paddle
class Folds:
    def __init__(self, n_splits):
        self.n_splits = n_splits
    def split(self, rows):
        for part in np.array_split(np.arange(len(rows)), self.n_splits):
            yield np.setdiff1d(np.arange(len(rows)), part), part
{begin}
for train, test in {rounds}:
    model = paddle.nn.Linear(6, 500)
    adam = paddle.optimizer.Adam(parameters=model.parameters())
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(rows[train])]), batch_size=16)
    for epoch in range(2):
        for (x,) in loader:
            model(x).mean().backward()
            adam.step()
            adam.clear_grad()
"""
HERE = "rows = np.zeros([128, 6], 'float32')"
ABSENT = """
import pandas as pd
table = pd.read_csv('absent.csv')
rows = table[list('abcdef')].values.astype('float32')
"""


def test_a_loop_over_absent_data_trains_as_often_as_its_splitter_says(run_child):
    sources = {
        f"{count} folds {where}": FOLDS.format(begin=begin, rounds=f"Folds({count}).split(rows)")
        for count in (2, 4)
        for where, begin in (("here", HERE), ("absent", ABSENT))
    }
    sources["rounds that nobody knows"] = FOLDS.format(begin=ABSENT, rounds="table.groupby('part')")
    answers = {"split": "int64[64] int64[64]", "table": "int64[64] int64[64]"}
    found = run_child("trace", sources, {name: {"answers": answers} for name in sources})

    for count in (2, 4):
        here, absent = (found[f"{count} folds {where}"] for where in ("here", "absent"))
        assert absent["status"] == "ok", absent
        assert abs(absent["peak"] - here["peak"]) < 0.05 * here["peak"]
    unknown = found["rounds that nobody knows"]
    assert unknown["status"] == "ok", unknown
    assert "rounds_unknown" in str(unknown["notes"])
    assert unknown["peak"] < found["4 folds here"]["peak"]
