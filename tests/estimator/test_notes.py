"""Notes on what was assumed say where it stands: a line alone is one of any cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.trace import TracedNote
from jupyter_paddle_gpu.estimator.translate import note
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

MODEL = """import paddle
net, wide, back = paddle.nn.Linear(20, 30), paddle.nn.Linear(30, 200), paddle.nn.Linear(200, 30)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
"""
LOOP = """for step in range(9):
    h = net(paddle.rand([8, 20]))
    if h.mean() > 1000:
        h = back(wide(h))
    kept = paddle.masked_select(h, h > 0)
    kept.mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.paddle
def test_a_line_is_told_with_its_cell(tmp_path):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in ("a = 1", MODEL, LOOP)]
    source = parse_notebook({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}, tmp_path / "n.ipynb")
    service = EstimateService(EstimateSettings())
    try:
        estimate = service.estimate(inspect_notebook(source), Path(tmp_path), EstimateRequest(target="cpu"))
    finally:
        service.close()
    told = {one.code: one.render() for one in estimate.notes}
    assert "(cell 3, line 3)" in told["branches_followed"]
    assert "(cell 3, line 5)" in told["unknown_shape_line"]


def test_where_nothing_is_a_cell_no_place_is_told():
    said = note(TracedNote(code="stand_in_branch", params={})).render()
    assert said == "A condition depends on values that are not computed here; one way was assumed."


def test_what_comes_behind_absent_data_is_said_not_to_have_run():
    """Where no step was seen nobody can say that it does without the data."""
    at = {"cell": 1, "line": 18, "wanted": "no_such_module"}
    said = note(TracedNote(code="data_absent", params={**at, "hides": 1})).render()
    assert said.startswith("no_such_module is not on this machine (cell 1, line 18)")
    assert "which an estimate does without." in note(TracedNote(code="data_absent", params=at)).render()
