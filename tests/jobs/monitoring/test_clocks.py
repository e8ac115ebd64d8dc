"""Times of jobs when the machine's clock is set."""

from __future__ import annotations

import os
import time

import pytest

from jupyter_paddle_gpu.engines.processes import seconds_since_start
from jupyter_paddle_gpu.jobs.monitoring.clocks import RunTimes, span


@pytest.mark.parametrize(
    ("started", "ended", "ran", "right"),
    [
        (100.0, 130.0, 30.0, (100.0, 130.0)),
        (100.0, 135.0, 30.0, (100.0, 135.0)),  # a slow start is no jump
        (100.0, 100.0 + 10_830.0, 30.0, (10_900.0, 10_930.0)),  # set forward by 3 h
        (20_000.0, 9_230.0, 30.0, (9_200.0, 9_230.0)),  # set back
        (20_000.0, 9_230.0, None, (9_230.0, 9_230.0)),  # nobody measured: never before its start
        (None, 50.0, None, (None, 50.0)),
    ],
)
def test_a_row_says_how_long_a_job_ran(
    started: float | None, ended: float, ran: float | None, right: tuple[float | None, float]
) -> None:
    assert span(started, ended, ran) == right


def test_what_the_engine_tells_comes_first() -> None:
    times = RunTimes()
    assert times.seconds("a", 500.0) == 500.0
    time.sleep(0.01)
    assert times.seconds("a", None) > 0, "counted here, from the first look on"
    times.forget("a")
    assert times.seconds("a", None) == 0


def test_the_age_of_a_process_by_the_clock_that_is_never_set() -> None:
    first = seconds_since_start(os.getpid())
    if first is None:
        pytest.skip("no /proc, or no clock that counts from the boot")
    time.sleep(0.05)
    second = seconds_since_start(os.getpid())
    assert second is not None and 0.04 < second - first < 30
    assert seconds_since_start(2**22 + 1) is None
