"""Whatever a program lacks: each question has a name and a kind, and its answer leads on; where none would, none is
asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.trace import Trace, TracedNote, TracedQuestion
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

MODEL = """import argparse, json, os, sqlite3, subprocess, sys, urllib.request
import numpy as np
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
def train(x):
    for step in range(9):
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
LOADER = """class Rows(paddle.io.Dataset):
    def __init__(self):
        self.rows = np.load("rows.npy")
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
loader = paddle.io.DataLoader(Rows(), batch_size=8)
for x in loader:
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
EMBEDS = """table = paddle.nn.Embedding({count}, 4)
train(table(paddle.randint(0, 3, [8])))
"""
ASKED = {
    "a download": ["urllib.request.urlretrieve('http://example.com/w', 'w')\nwords = open('w').read().split()",
                   EMBEDS.format(count="len(words)")],
    "a program": ["count = int(subprocess.check_output(['nproc']).decode())", "train(paddle.rand([count, 4]))"],
    "a file": ["text = open('text.txt').read()\nletters = sorted(set(text))", EMBEDS.format(count="len(letters)")],
    "a number in a file": ["config = json.load(open('config.json'))", EMBEDS.format(count="config['words']")],
    "a data base": ["rows = sqlite3.connect('a.db').execute('select count(*) from w')\ncount = rows.fetchone()[0]",
                    EMBEDS.format(count="count")],
    "a tensor": ["x = paddle.to_tensor(np.load('rows.npy'))", "train(x)"],
    "a loader": [LOADER],
    "a variable": ["batch = int(os.environ['BATCH'])", "train(paddle.rand([batch, 4]))"],
    "an argument": ["parser = argparse.ArgumentParser()\nparser.add_argument('--batch', type=int, required=True)\n"
                    "args = parser.parse_args([])", "train(paddle.rand([args.batch, 4]))"],
    "a person's input": ["batch = int(input('batch'))", "train(paddle.rand([batch, 4]))"],
    "an input without a name": ["train(paddle.rand([int(input()), 4]))"],
    "a failure behind data": ["x = np.load('rows.npy')", "if x.shape[1]:\n    raise RuntimeError('odd')", "train(x)"],
}  # fmt: skip
"""Programs by what they lack."""
ANSWERS = {"value": 8, "environment": "8", "batch": "float32[8,4]", "path": "here.npy"}
"""What a person may answer where nothing is suggested."""
HINDERED = {
    "time": ["while True:\n    pass", "train(paddle.rand([8, 4]))"],
    "a file that is empty": ["train(paddle.to_tensor(np.load('empty.npy')))"],
    "a compiled model": ["compiled = paddle.jit.load('model/inference')", "train(compiled(paddle.rand([8, 4])))"],
}  # fmt: skip


@pytest.fixture(scope="module")
def estimate(tmp_path_factory):
    """The estimate of cells behind those of a model, with answers."""
    folder = tmp_path_factory.mktemp("answerable")
    service = EstimateService(EstimateSettings(calibration=folder / "calibration.json"))
    np.save(folder / "here.npy", np.zeros([8, 4], "float32"))
    (folder / "empty.npy").write_bytes(b"")
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}

    def of(cells, answers=None):
        sources = [MODEL, *cells]
        code = [
            {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": source, "outputs": [],
             "execution_count": None}
            for number, source in enumerate(sources)
        ]  # fmt: skip
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": code}
        (folder / "notebook.ipynb").write_text(json.dumps(notebook))
        facts = inspect_notebook(read_notebook(folder / "notebook.ipynb"))
        return service.estimate(facts, folder, EstimateRequest(target="cpu", answers=answers or {}))

    yield of
    service.close()


def outcome(found):
    asked = tuple((one.name, one.kind, one.why.code, one.suggestion) for one in found.questions)
    return found.status, asked, found.allocated_peak_bytes, found.stop, tuple(one.code for one in found.notes)


@pytest.mark.paddle
@pytest.mark.parametrize("lacks", ASKED)
def test_each_question_has_a_name_and_a_suggestion_and_its_answer_leads_on(estimate, lacks):
    answers, found = {}, estimate(ASKED[lacks])
    assert found.status == "needs_input"
    while found.status == "needs_input":
        assert found.questions and all(one.name and one.kind for one in found.questions)
        assert all(one.suggestion is not None or "Nothing" in one.why.render_hint() for one in found.questions)
        question = next((one for one in found.questions if one.kind != "path"), found.questions[0])
        assert question.name not in answers
        given = ANSWERS[question.kind] if question.suggestion is None else question.suggestion
        answers[question.name] = given
        after = estimate(ASKED[lacks], dict(answers))
        assert outcome(after) != outcome(found)
        found = after
    assert found.questions == ()


@pytest.mark.paddle
@pytest.mark.parametrize("hindrance", HINDERED)
def test_where_no_answer_helps_nothing_is_asked(estimate, hindrance):
    found = estimate(HINDERED[hindrance])
    assert (found.status, found.questions) == ("unsupported", ())
    reason = next(note for note in found.notes if note.code == "unsupported")
    assert reason.params["cell"] == 2 and reason.render_hint()


def test_what_comes_of_data_that_was_passed_by_is_told_so():
    """A cell that fails for want of data may run with it: nobody is told to see the same fault."""
    failed = TracedQuestion(
        name="", why="cell_failed", cell=3, line=2, params={"error": "ValueError", "message": "no rows"}
    )
    absent = TracedNote(code="data_absent", params={"cell": 1, "line": 1, "wanted": "rows.csv"})
    service = EstimateService()
    found = service.of_trace(Trace(status="needs_input", questions=(failed,), notes=(absent,)), EstimateRequest())
    assert found.status == "unsupported"
    reason = found.notes[0]
    assert reason.render() == (
        "In cell 4, line 2 the estimate goes no further: The cell fails when it is run up to the first training step: "
        "ValueError: no rows"
    )
    assert "was passed by before" in reason.render_hint()
    service.close()


def test_a_figure_that_nothing_asks_for_is_none_that_is_asked():
    """A what-if that is refused has its reason in a note, and no question."""
    service = EstimateService()
    refused = Trace(status="needs_input", notes=(TracedNote(code="size_unreached", params={"asked": 64}),))
    found = service.of_trace(refused, EstimateRequest())
    assert (found.status, found.questions) == ("unsupported", ())
    service.close()


TRIED = {4: "all 4 that were tried end the program", 1: "the only one that was tried ends the program"}


@pytest.mark.parametrize("count", TRIED)
@pytest.mark.parametrize(
    ("kind", "why", "said"),
    [("batch", "batch_unseen", "Name type and shape"), ("value", "argument_missing", "Give its value.")],
)
def test_a_question_without_a_suggestion_says_what_was_tried(kind, why, said, count):
    tried = {"tried": count, "end": "ValueError: no rows"}
    question = TracedQuestion(name="rows", kind=kind, why=why, cell=0, line=1, params=tried)
    service = EstimateService()
    (asked,) = service.of_trace(Trace(status="needs_input", questions=(question,)), EstimateRequest()).questions
    assert asked.suggestion is None
    assert asked.why.render_hint().startswith(said)
    assert asked.why.render_hint().endswith(f"{TRIED[count]} (ValueError: no rows).")
    service.close()


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, "none of 2 that were tried leads to a training."), (1, "the only one that was tried leads to no training.")],
)
def test_a_question_behind_which_nothing_trains_says_so(count, said):
    question = TracedQuestion(name="word", why="input_missing", cell=0, line=1, params={"tried": count})
    service = EstimateService()
    (asked,) = service.of_trace(Trace(status="needs_input", questions=(question,)), EstimateRequest()).questions
    assert asked.why.render_hint().endswith(said)
    service.close()


@pytest.mark.parametrize("code", ["data_described", "data_followed"])
def test_beside_a_stop_no_note_speaks_of_a_figure(code):
    note = TracedNote(code=code, params={"answers": "x=float32[2,3]", "batches": "x=float32[2,3]"})
    service = EstimateService()
    found = service.of_trace(Trace(status="would_stop", notes=(note,)), EstimateRequest())
    assert [(one.code, one.render_hint()) for one in found.notes if one.code == code] == [(code, "")]
    service.close()
