"""Questions at a terminal: an answer can be typed anew, and the others stay."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from jupyter_paddle_gpu.cli.answering import Answering
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.domain.estimates import Estimate, Question
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.mistakes.stops import Stop

WHY = Message(code="asked", text="It is computed from data.")


def asking(*names, **suggestions):
    questions = tuple(
        Question(name=name, kind="value", why=WHY, where=None, suggestion=suggestions.get(name)) for name in names
    )
    return Estimate(status="needs_input", evidence="scan", questions=questions)


STOPPED = Estimate(status="would_stop", evidence="scan", stop=Stop(cell=0, line=2, error="ValueError: 7"))


@pytest.fixture
def dialogue(monkeypatch):
    shown = io.StringIO()
    answering = Answering(Console(file=shown, width=200), Speech("en"))

    def ask(estimate, *typed):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        return answering.answers(estimate), shown.getvalue()

    return ask


def test_enter_takes_what_is_suggested_and_ends_where_nothing_is(dialogue):
    assert dialogue(asking("width", "depth", width=8), "", "3")[0] == {"width": 8, "depth": 3}
    assert dialogue(asking("length"), "")[0] == {}


def test_the_answer_before_is_typed_anew(dialogue):
    assert dialogue(asking("width"), "70")[0] == {"width": 70}
    assert dialogue(asking("depth"), "<", "7")[0] == {"width": 7}
    assert dialogue(asking("depth"), "2")[0] == {"depth": 2}
    assert dialogue(asking("a", "b"), "1", "<", "5")[0] == {"a": 5}, "within one estimate's questions too"


def test_an_answer_that_the_notebook_stops_by_is_changed(dialogue):
    assert dialogue(STOPPED)[0] == {}, "nothing was answered here"
    dialogue(asking("width", "depth"), "70", "2")
    found, shown = dialogue(STOPPED, "width", "7")
    assert found == {"width": 7} and "ValueError: 7" in shown and "width=70, depth=2" in shown
    assert dialogue(STOPPED, "")[0] == {}


def test_what_cannot_be_an_answer_is_told_and_asked_for_again(dialogue):
    batch = Question(name="loader", kind="batch", why=WHY, suggestion="float32[10,13]")
    asked = Estimate(status="needs_input", evidence="scan", questions=(batch,))
    found, shown = dialogue(asked, "10,13", "float32[8,13]")
    assert found == {"loader": "float32[8,13]"} and "Write it as float32[32,3,224,224] int64[32,1]" in shown
    found, shown = dialogue(asking("width", width=8), "abc", "-5", "64")
    assert found == {"width": 64} and shown.count("A number above 0 is wanted here.") == 2
    assert dialogue(asking("name"), "abc")[0] == {"name": "abc"}, "where nothing says that it is a number"
