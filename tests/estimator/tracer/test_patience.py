"""What is looked for ends at the same operation however busy the machine is, and a program that waits is told from one
that is slow."""

from __future__ import annotations

import math
import signal
import time
from types import SimpleNamespace

import pytest

from jupyter_paddle_gpu.estimator.tracer import patience
from jupyter_paddle_gpu.estimator.tracer.patience import Patience
from jupyter_paddle_gpu.estimator.tracer.step import deadline


class Clock:
    """Times that pass when the test says so."""

    def __init__(self) -> None:
        self.now = self.used = 0.0

    def monotonic(self) -> float:
        """On the clock."""
        return self.now

    def process_time(self) -> float:
        """Of the processor."""
        return self.used


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in (patience, deadline):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=made.monotonic, process_time=made.process_time))
    return made


def test_operations_end_it_and_hours_on_the_clock_do_not(clock):
    waiting = Patience(100, 10.0).begins(40)
    clock.now = 7_200.0
    assert [waiting.is_over(now) for now in (41, 139, 140)] == [False, False, True]


def test_where_there_are_none_the_processors_time_ends_it(clock):
    waiting = Patience(100, 10.0).begins()
    clock.used = 9.0
    assert not waiting.is_over(0)
    clock.used = 10.0
    assert waiting.is_over(0)


def test_a_program_that_computes_on_a_busy_machine_does_not_wait(clock):
    waiting = deadline.Waiting()
    clock.now, clock.used = 50.0, 4.0
    assert not waiting.is_idle()
    clock.now, clock.used = 100.0, 4.1
    assert waiting.is_idle() and waiting.waited == 100.0


def test_a_program_that_only_waits_is_stopped_long_before_its_time(clock):
    with pytest.raises(deadline.TimeUp), deadline.limited(math.inf, 0, 0.1) as times:
        clock.now = 1.0
        signal.pause()
    assert times.stopped


def test_what_a_run_has_shown_is_looked_at_to_its_end():
    """The time was up while the code was searched for trainings: the estimate was told to have failed by `TimeUp`."""
    place = deadline.call_stack.TRACER + "looking.py"
    names: dict = {"time": time}
    exec(
        compile("def look(done):\n while not done(): time.sleep(0.01)\ndef run(): look(lambda: False)", place, "exec"),
        names,
    )
    exec(compile("def program(): run()", "<cell 0>", "exec"), names)
    began = time.monotonic()
    with pytest.raises(deadline.TimeUp), deadline.limited(0.1, 0) as times:
        names["look"](lambda: time.monotonic() - began > 0.5)
        assert not times.stopped
        names["program"]()
    assert times.stopped


def test_one_that_computes_goes_on(clock):
    seen = []
    with deadline.limited(math.inf, 0, 0.05) as times:
        handler = signal.getsignal(signal.SIGALRM)
        signal.signal(signal.SIGALRM, lambda *given: (seen.append(1), handler(*given)))
        while len(seen) < 3:
            clock.now, clock.used = clock.now + 1.0, clock.used + 0.5
            time.sleep(0)
    assert not times.stopped


def test_looking_ahead_goes_by_the_processor_and_gives_up_by_the_clock(clock):
    """Two seconds on the clock gave three batches on a busy machine and four on an idle one."""
    is_time = patience.while_in_time(seconds=2.0, at_most=8.0)
    clock.now, clock.used = 7.0, 1.0
    assert is_time()
    clock.used = 2.0
    assert not is_time()
    is_time = patience.while_in_time(seconds=2.0, at_most=8.0)
    clock.now = 15.0
    assert not is_time(), "it waits for its data"
