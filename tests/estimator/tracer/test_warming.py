"""What a warm process traces while nobody asks is real trainings, and changes nothing of the next estimate."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer import warming

def traced(source):
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "folder": "", "target": "cpu"})
    return {name: value for name, value in found.items() if name != "seconds"}

source = json.load(sys.stdin)
before = traced(source)
turns = sum(1 for _ in tracer.warm_up())
print(json.dumps(["same", before == traced(source)]))
print(json.dumps(["turns", turns]))
found = [traced(program) for program in warming.PROGRAMS]
print(json.dumps(["programs", [[one["status"], one["questions"], one["notes"], one["optimizer"]] for one in found]]))
"""
PROGRAM = """
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
print(net.full_name(), paddle.rand([2]).numpy().tolist())
for _ in range(4):
    net(paddle.rand([8, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_it_traces_trainings_and_changes_no_estimate(run_code):
    answers = run_code(CHILD, PROGRAM)
    assert answers["same"]
    assert answers["turns"] == 3
    assert [row[:3] for row in answers["programs"]] == [["ok", [], []]] * 3
    assert [row[3] for row in answers["programs"]] == ["Momentum", "AdamW", "Adam"]
