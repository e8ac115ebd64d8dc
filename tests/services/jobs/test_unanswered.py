"""What a job is said to do without a figure."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.messages import Message
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
    note = Message(code="answers_untaken_alone", text="Nothing takes {names}.", params={"names": "hiden"})
    found = Estimate(status="ok", evidence="trace", notes=(note, Message(code="few_steps", text="Few.")))
    assert unanswered(found) == (note,)
