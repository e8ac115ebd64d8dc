"""What was used of devices: as much as was really used, whoever dies and however the wall clock is set."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.claims.boards import Board, Running
from jupyter_paddle_gpu.claims.processes import Process
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.jobs.scheduling.ledger import DAY, Ledger, Now, used_in

from .test_queue import job


def ran(name: str, started: float, ended: float | None = None, cards: int = 2) -> Job:
    ids = tuple(f"g{number}" for number in range(cards))
    return msgspec.structs.replace(job(name, cards), device_ids=ids, started=started, ended=ended)


def test_what_was_used_counts_half_after_a_day() -> None:
    one = ran("a", 1000.0, 1100.0)
    now = Now(1050.0 + DAY, "boot", 0.0)
    assert used_in(now.time, now, [one, one]) == pytest.approx(100.0)
    assert used_in(50.0, Now(1100.0, "boot", 0.0), [one]) == pytest.approx(100.0, rel=1e-3), "only what came since"


@pytest.mark.parametrize("jump", [-DAY, 0.0, DAY, 400 * DAY])
def test_a_clock_that_was_set_while_nobody_looked_charges_nobody(jump: float) -> None:
    """The machine ran on for ten seconds with the same boot: the job used two cards for so long and no more."""
    board = told(Now(5000.0, "boot", 100.0), 7.0, running=("a",))
    mine = Ledger()
    mine.open(board, Now(5010.0 + jump, "boot", 110.0), [ran("a", 4900.0)], [])
    assert mine.used == pytest.approx(27.0, rel=1e-3)


def test_after_another_boot_the_wall_clock_says_how_long_nobody_looked() -> None:
    board = told(Now(5000.0, "before", 90_000.0), 8.0)
    mine = Ledger()
    mine.open(board, Now(5000.0 + DAY, "after", 3.0), [], [])
    assert mine.used == pytest.approx(4.0)


def told(at: Now, usage: float, running: tuple[str, ...] = ()) -> Board:
    process = Process(pid=1, boot=at.boot)
    jobs = tuple(Running(job=name, devices=("g0", "g1")) for name in running)
    return Board(usage=usage, at=max(0.0, at.time), clock=at.clock, process=process, running=jobs)


LIVES = st.lists(
    st.tuples(
        st.sampled_from(["starts", "ends", "passes", "dies"]), st.floats(0, 50), st.sampled_from([0.0, DAY, -DAY])
    ),
    max_size=25,
)


@given(LIVES)
def test_kills_and_jumps_change_nothing_of_what_was_used(life: list[tuple[str, float, float]]) -> None:
    """The account is what the cards were really held for, and other users read it so by whatever clock of theirs."""
    mine, clock, offset, truth = Ledger(), 0.0, 10 * DAY, 0.0
    active: list[Job] = []
    ended: list[Job] = []

    def at() -> Now:
        return Now(clock + offset, "boot", clock)

    mine.open(Board(), at(), active, ended)
    for number, (what, passed, jump) in enumerate(life):
        truth = truth * 0.5 ** (passed / DAY) + 2 * len(active) * passed
        clock += passed
        mine.count(active, at())
        if what == "starts":
            active = [*active, ran(f"j{number}", clock + offset)]
        elif what == "ends" and active:
            ended = [*ended, msgspec.structs.replace(active[0], ended=clock + offset)]
            active = active[1:]
        mine.count(active, at())
        if what == "dies":
            board: Any = told(at(), mine.used or 0.0, running=tuple(one.id for one in active))
            clock, offset = clock + 5.0, offset + jump
            truth = truth * 0.5 ** (5.0 / DAY) + 2 * len(active) * 5.0
            mine = Ledger()
            mine.open(board, at(), active, ended if jump >= 0 else [])
    # Halving is taken at the middle of each span: a thousandth is its rounding.
    assert mine.used == pytest.approx(truth, rel=2e-3, abs=1e-6)
