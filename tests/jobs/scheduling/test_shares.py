"""Shares of cards in the queue: side by side while they fit, in order, and nobody starves behind them."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, DeviceShare
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.queue import Known
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings, SchedulerPolicy
from jupyter_paddle_gpu.matching.policy import Policy

from .test_queue import job, started

ALL = Policy(memory_threshold=1.0)


def part(name: str, share: float | None, **fields: object) -> Job:
    made = job(name, 1, **fields)
    resources = msgspec.structs.replace(made.spec.resources, share=share)
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, resources=resources))


def runs(name: str, size: int, device: str = "g0", **fields: object) -> Job:
    """One that has a share of a card of 100 bytes."""
    made = part(name, float(size), **fields)
    shares = (DeviceShare(bytes=size, most=100, total=100),)
    return msgspec.structs.replace(made, state="running", device_ids=(device,), shares=shares, started=50.0)


def card(number: int) -> Device:
    return Device(
        id=f"g{number}", index=number, vendor="nvidia", name="A", memory_total=100, memory_free=100, memory_used=0
    )


def plan(
    queued: list[Job],
    *,
    active: tuple[Job, ...] = (),
    shared: dict[str, tuple[DeviceHolder, ...]] | None = None,
    known: Known = Known(),  # noqa: B008
    cards: int = 1,
    order: SchedulerPolicy | None = None,
) -> dict[str, queue.Turn]:
    found = queue.turns(
        queued,
        active,
        claims={one.device_ids[0]: one.id for one in active if one.device_ids and not one.shares},
        supply=lambda engine: Supply(devices=tuple(card(number) for number in range(cards))),
        shared=shared,
        settings=JobSettings(order=order or SchedulerPolicy()),
        now=100.0,
        policy=ALL,
        known=known,
    )
    return {turn.job.id: turn for turn in found}


def test_shares_stand_side_by_side_and_the_row_says_so() -> None:
    turns = plan([part("a", 0.5), part("b", 0.5), part("c", 0.25)])
    assert started(turns) == {"a": ("g0",), "b": ("g0",)}
    assert turns["a"].shares == (DeviceShare(bytes=50, most=100, total=100),)
    assert turns["c"].place == 1
    beside = {"g0": (DeviceHolder(job="x", owner="ben", bytes=60),)}
    assert started(plan([part("a", 0.8), part("b", 0.3)], shared=beside)) == {}, "the first keeps its place"
    assert started(plan([part("a", 0.6), part("b", 0.4)], shared=beside)) == {"b": ("g0",)}, "there is room for both"


def test_a_whole_card_is_waited_for_behind_shares_and_not_overtaken_by_them() -> None:
    turns = plan([part("whole", None), part("small", 0.1)], active=(runs("r", 30),))
    assert started(turns) == {}, "else shares would come for ever"
    seconds = {"r": 60.0, "whole": 100.0, "short": 5.0, "long": 50.0}
    turns = plan(
        [part("whole", None), part("short", 0.1), part("long", 0.1)], active=(runs("r", 30),), known=Known(seconds)
    )
    assert turns["whole"].starts == 110.0
    assert started(turns) == {"short": ("g0",)}, "it has left before"


def test_a_waiting_share_begins_when_others_of_its_card_have_ended() -> None:
    ends = {("g0", "x"): 160.0, ("g0", "y"): 130.0}
    shared = {"g0": tuple(DeviceHolder(job=name, owner="ben", bytes=45) for name in ("x", "y"))}
    seconds = {"a": 100.0, "b": 100.0}
    turns = plan([part("a", 0.5), part("b", 0.5)], shared=shared, known=Known(seconds, ends))
    assert (turns["a"].starts, turns["b"].starts) == (130.0, 160.0)


def test_a_quota_counts_what_of_a_device_somebody_has() -> None:
    order = SchedulerPolicy(quotas={"*": 1})
    turns = plan([part("a", 0.5), part("b", 50.0), part("c", 0.1)], cards=2, order=order)
    assert started(turns) == {"a": ("g0",), "b": ("g1",)}
    assert turns["c"].reason is not None
    assert turns["c"].reason.code == "waits_quota"


@given(
    st.lists(st.one_of(st.none(), st.floats(0.05, 0.95), st.integers(2, 100)), max_size=8),
    st.lists(st.integers(1, 60), max_size=2),
    st.lists(st.one_of(st.none(), st.floats(1, 100)), min_size=8, max_size=8),
)
@settings(max_examples=60)
def test_whatever_waits_no_card_is_given_twice(asked, have, lengths) -> None:
    active = tuple(runs(f"r{number}", size, f"g{number}") for number, size in enumerate(have))
    queued = [part(f"j{number}", one if one is None else float(one)) for number, one in enumerate(asked)]
    known = Known({one.id: length for one, length in zip(queued, lengths, strict=False) if length is not None})
    turns = plan(queued, active=active, known=known, cards=2)
    assert turns == plan(queued, active=active, known=known, cards=2)
    load = {f"g{number}": size for number, size in enumerate(have)}
    whole = set()
    for turn in turns.values():
        for device in turn.device_ids if turn.start else ():
            if turn.shares:
                load[device] = load.get(device, 0) + turn.shares[0].bytes
            else:
                assert device not in load
                assert device not in whole
                whole.add(device)
    assert not whole & set(load)
    assert all(size <= 100 for size in load.values())
