"""What reading alone tells beside a figure."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts, Place, Unbound
from jupyter_paddle_gpu.estimator.scan import behind_training
from jupyter_paddle_gpu.estimator.trace import Trace


def _facts(*places: tuple[int, int]) -> NotebookFacts:
    unbound = tuple(Unbound(name=f"name{cell}", place=Place(cell, line)) for cell, line in places)
    nothing = NotebookFacts(kernel_name="", language="python", cells=(), imports_paddle=True, loop="custom")
    return msgspec.structs.replace(nothing, unbound=unbound)


def test_a_name_behind_the_last_training_ends_the_job():
    trace = Trace(status="ok", where=Place(2, 5), others=(Trace(status="ok", where=Place(4, 1)),))
    stop = behind_training(trace, _facts((3, 1), (6, 2), (8, 1)))
    assert stop is not None
    assert (stop.cell, stop.line, stop.error) == (6, 2, "NameError: name 'name6' is not defined")
    assert stop.told(behind=True).message.text.startswith("The training step runs; after it")


def test_what_the_trace_came_by_is_the_traces_to_tell():
    assert behind_training(Trace(status="ok", where=Place(2, 5)), _facts((2, 4))) is None
    assert behind_training(Trace(status="ok"), _facts((2, 4))) is None
