"""A program that runs for long without a file of its own: it is told where it was, and not the file alone."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.trace_notebook  # which imports the rest
from tracer.patience import Patience
from tracer.step import steps
steps.ASKED = Patience(2_000, 60.0)
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}})
    asked = [(one["why"], one["line"], one["suggestion"]) for one in found["questions"]]
    print(json.dumps([name, [asked, [one["code"] for one in found["notes"]]]]))
"""
SOURCE = """
import json
import paddle
rows = json.load(open('digits.json'))
x = paddle.rand([8])
for turn in range({turns}):
    x = x * 2
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in {batches}:
    paddle.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_the_place_is_told_where_no_file_alone_leads_on(run_code):
    found = run_code(CHILD, {
        "long": SOURCE.format(turns=20_000, batches="rows"),
        "short": SOURCE.format(turns=20, batches="rows"),
    })  # fmt: skip
    (asked, notes), (short, _) = found["long"], found["short"]
    assert asked == [["time_up", 7, None], ["path_missing", 4, None]]
    assert "given_up" not in notes
    assert [why for why, *_ in short] == ["batch_unseen"]


def test_a_path_alone_says_what_may_stand_in_its_place():
    trace = pytest.importorskip("jupyter_paddle_gpu.estimator.trace")
    translate = pytest.importorskip("jupyter_paddle_gpu.estimator.translate")
    asked = [
        translate.question(
            trace.TracedQuestion(name="rows", kind="path", why="path_missing", params={"path": "rows.npy", **more})
        ).why.hint
        for more in ({"alone": "yes"}, {})
    ]
    assert ["small one of its form" in one for one in asked] == [True, False]
    assert "leave this open" in asked[1]
