"""What a job is said to do without a figure."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.estimates import Estimate
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
