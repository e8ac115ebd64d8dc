"""Filling gaps: short jobs start early and delay nobody ahead of them."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.devices import DeviceHolder
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.queue import ANOTHERS, Known
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings, SchedulerPolicy

from .test_queue import gpu, job

BEN = DeviceHolder(job="x", owner="ben")


def plan(
    queued: list[Job],
    *,
    claims: dict[str, str] | None = None,
    active: list[Job] | None = None,
    seconds: dict[str, float] | None = None,
    held: dict[str, DeviceHolder] | None = None,
    ends: dict[str, float] | None = None,
    cards: int = 2,
    now: float = 100.0,
    order: SchedulerPolicy | None = None,
) -> dict[str, queue.Turn]:
    found = queue.turns(
        queued,
        active or (),
        claims=claims or {},
        supply=lambda engine: Supply(devices=tuple(gpu(number) for number in range(cards))),
        held=held,
        settings=JobSettings(common=order or SchedulerPolicy()),
        now=now,
        known=Known(seconds or {}, {(device, (held or {})[device].job): end for device, end in (ends or {}).items()}),
    )
    return {turn.job.id: turn for turn in found}


def test_a_short_job_fills_the_gap_before_one_that_waits_for_several_cards() -> None:
    queued = [job("large", 2), job("short", 1), job("long", 1), job("unknown", 1)]
    seconds = {"large": 500.0, "short": 40.0, "long": 90.0}
    turns = plan(queued, held={"g0": BEN}, ends={"g0": 160.0}, seconds=seconds)
    assert (turns["large"].place, turns["large"].starts) == (1, 160.0)
    assert turns["short"].start and turns["short"].device_ids == ("g1",)
    assert not turns["long"].start
    assert turns["long"].reason and turns["long"].reason.code == "waits_job"
    assert (turns["long"].place, turns["long"].starts) == (2, 660.0)
    assert turns["unknown"].starts == 660.0, "beside the long one, when the large one has gone"


def test_nobody_fills_a_gap_of_which_nobody_knows_how_long_it_is() -> None:
    queued, seconds = [job("large", 2), job("short", 1)], {"short": 1.0}
    for ends in ({}, {"g0": 99.0}):  # unknown, or over already and still there
        turns = plan(queued, held={"g0": BEN}, ends=ends, seconds=seconds)
        assert not turns["short"].start
        assert turns["large"].starts is None


def test_a_card_that_nobody_ahead_can_use_is_open_to_all() -> None:
    queued = [job("named", ids=("g0",)), job("any", 1)]
    turns = plan(queued, held={"g0": BEN})
    assert turns["any"].device_ids == ("g1",)


def test_anothers_turn_is_kept_for_it() -> None:
    turns = plan([job("his", 1, engine=ANOTHERS, owner="ben"), job("mine", 1), job("then", 1)])
    assert turns["his"].start
    assert {turns["his"].device_ids[0], turns["mine"].device_ids[0]} == {"g0", "g1"}
    assert turns["then"].reason and turns["then"].reason.code.startswith("waits_")


def test_a_quota_counts_what_all_stores_of_a_user_have() -> None:
    held = {"g0": BEN}
    bound = SchedulerPolicy(quotas={"ben": 1})
    turns = plan([job("his", 1, engine=ANOTHERS, owner="ben"), job("mine", 1)], held=held, order=bound)
    assert turns["mine"].start, "who may have no more keeps nobody waiting"
    assert not plan([job("his", 1, engine=ANOTHERS, owner="ben"), job("mine", 1)], held=held)["mine"].start


def test_a_held_job_keeps_nobody_waiting() -> None:
    turns = plan([job("a", 2, held=True), job("b", 2)])
    assert turns["a"].reason and turns["a"].reason.code == "held"
    assert turns["b"].start


class Machine:
    """Jobs of known lengths on some cards, minute by minute of what the queue says."""

    def __init__(self, cards: int, wishes: list[tuple[int, int, int]]) -> None:
        self.cards = cards
        self.jobs = {f"j{n}": (count, float(length), float(at)) for n, (count, length, at) in enumerate(wishes)}
        self.promised: dict[str, float] = {}
        self.began: dict[str, float] = {}

    def run(self, only: set[str] | None = None) -> Machine:
        jobs = {name: one for name, one in self.jobs.items() if only is None or name in only}
        seconds = {name: length for name, (_, length, _) in jobs.items()}
        waiting = sorted(jobs, key=lambda name: (jobs[name][2], int(name[1:])))
        running: dict[str, tuple[str, ...]] = {}
        moments = {at for _, _, at in jobs.values()}
        while moments:
            now = min(moments)
            moments.remove(now)
            running = {name: ids for name, ids in running.items() if self.began[name] + seconds[name] > now}
            active = [
                msgspec.structs.replace(job(name, len(ids)), device_ids=ids, started=self.began[name], state="running")
                for name, ids in running.items()
            ]
            here = [job(name, jobs[name][0]) for name in waiting if jobs[name][2] <= now]
            claims = {device: name for name, ids in running.items() for device in ids}
            turns = plan(here, active=active, claims=claims, seconds=seconds, cards=self.cards, now=now)
            for name, turn in turns.items():
                if turn.starts is not None:
                    self.promised.setdefault(name, turn.starts)
                if turn.start:
                    assert not set(turn.device_ids) & set(claims)
                    running[name], self.began[name] = turn.device_ids, now
                    waiting.remove(name)
                    moments.add(now + seconds[name])
        assert not waiting
        return self


WISHES = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 50), st.integers(0, 60)), min_size=1, max_size=9)


@given(WISHES)
@settings(deadline=None, max_examples=60)
def test_back_fill_delays_nobody_ahead(wishes: list[tuple[int, int, int]]) -> None:
    """Where jobs run as long as they were expected to, each begins when it was first told, or before."""
    machine = Machine(3, wishes).run()
    for name, began in machine.began.items():
        assert began <= machine.promised[name] + 1e-6, name


@given(WISHES, st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_a_larger_quota_never_starts_fewer(wishes: list[tuple[int, int, int]], most: int) -> None:
    """Where there are as many devices as the quota: else a job that it lets wait for them has one kept for it."""
    queued = [job(f"j{n}", count, owner="anna") for n, (count, _, _) in enumerate(wishes)]

    def starts(quota: int) -> int:
        found = queue.turns(
            queued,
            (),
            claims={},
            supply=lambda engine: Supply(devices=tuple(gpu(number) for number in range(4))),
            settings=JobSettings(order=SchedulerPolicy(quotas={"anna": quota})),
            now=0.0,
        )
        return sum(len(turn.device_ids) for turn in found if turn.start)

    assert starts(most + 1) >= starts(most)


def test_what_is_told_of_a_place_does_not_flicker() -> None:
    from jupyter_paddle_gpu.domain.jobs.job import QueuePlace
    from jupyter_paddle_gpu.jobs.scheduling.queue_view import place_of

    def told(starts: float, before: Any, number: int = 2) -> Any:
        turn = queue.Turn(job("a", 1), False, reason=Message(code="x", text="x"), place=number, starts=starts)
        return place_of(turn, before, 1000.0)

    first = told(2000.0, None)
    assert first == QueuePlace(number=2, starts=2000.0)
    assert told(2050.0, first) == first
    assert told(2200.0, first) == QueuePlace(number=2, starts=2200.0)
    assert told(2050.0, first, number=1) == QueuePlace(number=1, starts=2000.0)
