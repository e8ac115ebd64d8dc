"""A loop that is left early reads on beside the next one: told where both change what the data set keeps."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PROGRAM = """
import numpy as np, paddle
class Rows(paddle.io.IterableDataset):
    def __init__(self):
        self.seen = {{"x": False}}
    def __iter__(self):
        {own}
        for row in range(4000):
            {kept}["x"] = True
            {kept}["x"] = not {kept}["x"]
            yield (np.full([8], row, "float32"),)
class Table(paddle.io.Dataset):
    def __len__(self):
        return 4000
    def __getitem__(self, row):
        return (np.full([8], row, "float32"),)
loader = paddle.io.DataLoader({data}, batch_size=4{workers})
model = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
{before}
for x in loader:
    model(x[0]).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LEFT = "assert any(loader)"
PROGRAMS = {
    "left": PROGRAM.format(own="", kept="self.seen", data="Rows()", workers="", before=LEFT),
    "broken off": PROGRAM.format(
        own="", kept="self.seen", data="Rows()", workers="", before="for x in loader:\n    break"
    ),
    "once": PROGRAM.format(own="", kept="self.seen", data="Rows()", workers="", before=""),
    "of its own": PROGRAM.format(own="seen = dict(self.seen)", kept="seen", data="Rows()", workers="", before=LEFT),
    "workers": PROGRAM.format(own="", kept="self.seen", data="Rows()", workers=", num_workers=1", before=LEFT),
    "table": PROGRAM.format(own="", kept="self.seen", data="Table()", workers="", before=LEFT),
}
ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "cpu"})
    told = [note["params"] for note in found["notes"] if note["code"] == "read_twice_at_once"]
    print(json.dumps([name, [found["status"], told]]))
"""


@pytest.fixture(scope="module")
def found(run_code):
    return run_code(ASKED, PROGRAMS)


@pytest.mark.parametrize("name", ["left", "broken off"])
def test_both_loops_change_the_same(found, name):
    """PaddleRec looks at a first batch by `any(loader())`, and its reader stops then by chance: a real run
    of deepfm did, one of wide_deep did not."""
    assert found[name] == ["ok", [{"name": "Rows", "attribute": "seen"}]]


@pytest.mark.parametrize("name", ["once", "of its own", "workers", "table"])
def test_nothing_is_shared(found, name):
    """One loop alone, one that keeps its own, copies in processes, and rows that are read by number."""
    assert found[name] == ["ok", []]
