"""What reading alone tells beside a figure."""

from __future__ import annotations

import msgspec

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts, Place, Unbound
from jupyter_paddle_gpu.estimator.scan import behind_training
from jupyter_paddle_gpu.estimator.trace import Trace
from jupyter_paddle_gpu.notebook.cells import parse_cell


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


def test_a_cell_behind_it_that_is_no_python_ends_the_job_where_it_comes_first():
    trace, sources = Trace(status="ok", where=Place(2, 5)), {1: "def a(:", 3: "x = 1", 5: "print(1)\ndef b(:\n    pass"}

    def read(may_fail: int | None, *unbound: tuple[int, int]) -> NotebookFacts:
        parsed = [parse_cell(text, at, str(at), may_fail=at == may_fail) for at, text in sources.items()]
        problems = tuple(one.problem for one in parsed if one.problem is not None)
        return msgspec.structs.replace(_facts(*unbound), cells=tuple(one.cell for one in parsed), problems=problems)

    stop = behind_training(trace, read(None, (6, 1)))
    assert stop is not None
    assert (stop.cell, stop.line, stop.error) == (5, 2, "SyntaxError: invalid syntax")
    earlier = behind_training(trace, read(None, (4, 1)))
    assert earlier is not None
    assert earlier.cell == 4
    assert behind_training(trace, read(5)) is None, "a cell that may fail does not end it"
