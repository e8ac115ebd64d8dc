"""What a job is said to do without a figure."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.estimates import Estimate, Question
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.notebooks import Place
from jupyter_paddle_gpu.estimator.trace import TracedNote
from jupyter_paddle_gpu.estimator.translate import note
from jupyter_paddle_gpu.services.jobs.unanswered import unanswered


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(memory_bytes=2 << 30), "with at most 2.00 GiB of memory"),
        (Limits(), "nothing limits its memory"),
        (None, "nothing limits its memory"),
    ],
)
def test_a_static_graph_runs_within_the_limit_that_is_told(limits, said):
    (message,) = unanswered(Estimate(status="static_graph", evidence="scan"), limits)
    assert said in message.render()
    assert "no figure for a static graph" in message.render()


def test_an_answer_that_nothing_takes_is_told_of_before_the_job_runs():
    untaken = Message(code="answers_untaken_alone", text="Nothing takes {names}.", params={"names": "hiden"})
    found = Estimate(status="ok", evidence="trace", notes=(untaken, Message(code="few_steps", text="Few.")))
    assert unanswered(found) == (untaken,)
    asked = Question(name="hidden", why=untaken, where=Place(cell=0, line=2))
    found = Estimate(status="needs_input", evidence="trace", questions=(asked,), notes=(untaken,))
    assert [one.code for one in unanswered(found)] == ["open_value", "answers_untaken_alone"]


def test_a_value_that_stands_in_an_absent_file_is_no_second_warning():
    why = Message(code="why", text="Not there.")
    here, elsewhere = Place(cell=0, line=2), Place(cell=1, line=1)
    asked = (
        Question(name="captions_json", kind="path", why=why, where=here),
        Question(name="size", why=why, where=here),
        Question(name="width", why=why, where=elsewhere),
    )
    found = unanswered(Estimate(status="needs_input", evidence="trace", questions=asked))
    assert [(one.code, one.params["names"]) for one in found] == [
        ("open_path", "captions_json"),
        ("open_value", "width"),
    ]


def test_a_file_whose_content_was_answered_is_told_of_before_the_job_runs():
    params = {"cell": 1, "line": 3, "wanted": "conf/train.json", "answered": 1}
    absent = note(TracedNote(code="data_absent", params=params))
    (said,) = unanswered(Estimate(status="ok", evidence="trace", notes=(absent,)))
    assert "the job reads the file itself in cell 1, line 3, and ends there without it" in said.render()
