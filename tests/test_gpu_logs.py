"""The collection of logged figures can be read, holds no odd thread, and says which half is held back."""

from __future__ import annotations

from benchmarks.gpu_logs.collection import Figure, read
from benchmarks.gpu_logs.rebuild import error, kept
from jupyter_paddle_gpu.domain.gpu_logs import MIB
from jupyter_paddle_gpu.estimator.memory.evidence import SAME_SHAPES


def test_the_collection() -> None:
    logs = read()
    assert len({log.thread for log in logs}) >= 25
    assert {log.half for log in logs} == {"rules", "held back"}
    assert all(log.number % 2 == 0 for log in logs)
    for log in logs:
        for figure in (log.allocated, log.reserved, log.device, log.exhausted):
            assert figure is None or 0 < figure.low <= figure.high
        if log.allocated and log.reserved:
            assert log.allocated.low <= log.reserved.high, log.thread
        assert log.grade != "none" or not (log.allocated or log.reserved), log.thread


def test_a_figure_in_megabytes_is_a_range() -> None:
    figure = Figure.of_mib(100)
    assert error(figure, 100 * MIB) == error(figure, 101 * MIB - 1) == 0
    assert error(figure, 202 * MIB) == 202 * MIB / (101 * MIB - 1) - 1
    assert error(None, 1) is error(figure, None) is None


def test_the_estimates_table_is_the_rebuilt_one() -> None:
    rows = {row["thread"]: row for row in kept()}
    for seen in SAME_SHAPES:
        row = rows[seen.thread]
        assert (seen.kind, seen.estimated) == (row["kind"], row["estimated"]["reserved_peak_bytes"])
        assert seen.logged == row["logged"]["reserved"]
        assert "sizes_drawn" not in row["estimated"]["notes"]
