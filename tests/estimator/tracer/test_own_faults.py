"""A fault of the tracer's own code beside a program is told as such, and is no error of the program's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.estimator.sources import traces
from jupyter_paddle_gpu.estimator.translate import note as told
from jupyter_paddle_gpu.estimator.workers.outcomes import Outcome

PROGRAM = """
import paddle
from paddle import nn
class Absent(paddle.io.Dataset):
    def __init__(self):
        self.rows = [line.split() for line in open('absent.txt')]
    def __getitem__(self, i):
        return self.rows[i]
    def __len__(self):
        return len(self.rows)
net = nn.Linear(13, 1)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for x, y in paddle.io.DataLoader(Absent(), batch_size=16):
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
INJECTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.prepare(), tracer.trace_notebook
from tracer.notebook.questions import suggestions, trials
from tracer.patches.data import followed
program = json.load(sys.stdin)
source = "def broken(*args, **kwargs): return {}['ours']"
exec(compile(source, tracer.__path__[0] + "/injected.py", "exec"))
for where, name in ((None, ""), (suggestions, "of_need"), (trials, "_suggested"), (followed, "of_loader")):
    before = getattr(where, name, None)
    if where is not None:
        setattr(where, name, broken)
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": program}], "answers": {}, "target": "cpu"})
    if where is not None:
        setattr(where, name, before)
    faults = [one["params"] for one in found["notes"] if one["code"] == "suggestion_failed"]
    asked = [one["name"] for one in found["questions"]]
    print(json.dumps([name, [found["status"], found.get("stop"), bool(asked), faults]]))
"""
OTHER_NAMES = """
import paddle
net = paddle.nn.Linear(13, 1)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.rand([24, 13])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
RESIZED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.prepare(), tracer.trace_notebook
from tracer.notebook.questions import batch_places
program = json.load(sys.stdin)
found = {}
for broken in ("", "places", "changed", "as_data"):
    before = getattr(batch_places, broken, None)
    if broken:
        source = "def failing(*args, **kwargs): return {}['ours']"
        exec(compile(source, tracer.__path__[0] + "/injected.py", "exec"))
        setattr(batch_places, broken, failing)
    for asked in ({"batch_size": 48}, {"seeks_batch": True}):
        cells = [{"index": 0, "source": program}]
        traced = tracer.trace_notebook({"cells": cells, "answers": {}, "target": "cpu", **asked})
        faults = [one["params"] for one in traced["notes"] if one["code"] == "batch_search_failed"]
        found[f"{broken} {min(asked)}"] = [traced["status"], traced.get("stop"), traced["batch_size"], faults]
    if broken:
        setattr(batch_places, broken, before)
print(json.dumps(["found", found]))
"""


@pytest.mark.paddle
def test_a_fault_in_the_search_for_the_batch_leaves_the_figure(run_code: Callable[[str, object], dict]) -> None:
    found = run_code(RESIZED, OTHER_NAMES)["found"]
    assert found.pop(" batch_size") == ["ok", None, 48, []]
    assert found.pop(" seeks_batch") == ["ok", None, 24, []]
    assert found.pop("changed seeks_batch") == ["ok", None, 24, []]  # changes nothing
    assert found.pop("as_data batch_size")[3]
    for name, (status, stop, size, faults) in found.items():
        assert (status, stop, size) == ("ok", None, 24), name
        assert [one["problem"] for one in faults] == ["KeyError: 'ours'"], name
        assert "in failing" in faults[0]["traceback"], name


@pytest.mark.paddle
def test_an_injected_fault_is_told_and_blames_nobody(run_code: Callable[[str, object], dict[str, Any]]) -> None:
    found = run_code(INJECTED, PROGRAM)
    assert found.pop("") == ["needs_input", None, True, []]
    for name, (status, stop, is_asked, faults) in found.items():
        assert (status, stop, is_asked) == ("needs_input", None, True), name
        assert [one["problem"] for one in faults] == ["KeyError: 'ours'"], name
        assert "in broken" in faults[0]["traceback"], name


@pytest.mark.parametrize("code", ["suggestion_failed", "batch_search_failed"])
def test_its_traceback_is_logged_and_its_sentence_has_none(caplog: pytest.LogCaptureFixture, code: str) -> None:
    params = {"problem": "KeyError: 'a'", "traceback": "Traceback: line 3, in broken"}
    value = {"status": "needs_input", "notes": [{"code": code, "params": params}]}
    with caplog.at_level(logging.ERROR):
        traced = traces._read(Outcome(kind="answer", raw=msgspec.json.encode(value)))
    assert "line 3, in broken" in caplog.text
    assert traced.trace is not None
    message = told(traced.trace.notes[0])
    assert message.params == {"problem": "KeyError: 'a'"} and "KeyError: 'a'" in message.render()
