"""The queue gives the same turns by the index of its devices as by a look at all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from unittest import mock

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, DeviceShare
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.pools import Pools
from jupyter_paddle_gpu.jobs.scheduling.prospects import Prospects
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.candidates import usable
from jupyter_paddle_gpu.matching.policy import Policy, Weights
from jupyter_paddle_gpu.matching.pool import Pool
from jupyter_paddle_gpu.matching.seats import holds

from .test_queue import job

GIB = 1 << 30
LOST = Message(code="card_lost", text="This card does not answer.")
POLICIES = (
    Policy(),
    Policy(prefer="least_free"),
    Policy(prefer="fastest"),
    Policy(prefer="score", plan_for="low"),
    Policy(prefer="score", weights=Weights(balance=0, packing=2)),
    Policy(preferred_devices=("T4",), prices={"T4": 0.2, "A100 SXM 80GB": 2.0}),
)
CARDS = (("Tesla T4", 16), ("NVIDIA A100-SXM4-80GB", 80), ("Unknown", 16), ("Mute", None))
STATES = ("job", "held", "shared", "others", "both")
users = st.sampled_from(["anna", "ben", ""])
lengths = st.sampled_from([None, 30.0, 60.0, 60.0, 90.0, 120.0, 300.0])


class Place(NamedTuple):
    """What a queue is asked about."""

    devices: tuple[Device, ...]
    queued: tuple[Job, ...]
    active: tuple[Job, ...]
    held: dict[str, DeviceHolder]
    shared: dict[str, tuple[DeviceHolder, ...]]
    known: queue.Known

    def turns(self, policy: Policy, pools: Pools | None = None) -> list[queue.Turn]:
        supply = Supply(devices=self.devices)
        claims = {device: one.id for one in self.active if not one.shares for device in one.device_ids}
        return queue.turns(
            self.queued,
            self.active,
            claims=claims,
            supply=lambda engine: supply,
            held=self.held,
            shared=self.shared,
            settings=JobSettings(),
            now=1000.0,
            policy=policy,
            known=self.known,
            pools=pools,
        )


@st.composite
def places(draw: st.DrawFn, size: int | None = None) -> Place:
    devices: list[Device] = []
    active: list[Job] = []
    held: dict[str, DeviceHolder] = {}
    shared: dict[str, tuple[DeviceHolder, ...]] = {}
    seconds: dict[str, float] = {}
    ends: dict[tuple[str, str], float] = {}
    kinds = draw(
        st.sampled_from([CARDS[:1], CARDS[1:2], CARDS[:2], CARDS[3:], CARDS])
    )  # few, so that there are many of each
    for index in range(size or draw(st.integers(1, 14))):
        name, total = draw(st.sampled_from(kinds))
        used = draw(st.sampled_from([0, 0, 0, 4, total or 0]))
        one = Device(
            id=f"g{index}",
            index=index,
            vendor="nvidia",
            name=name,
            memory_total=None if total is None else total * GIB,
            memory_used=None if total is None else used * GIB,
            memory_free=None if total is None else (total - used) * GIB,
            problem=LOST if draw(st.integers(0, 14)) == 0 else None,
        )
        devices.append(one)
        state, length = draw(st.sampled_from(["free", *STATES, *STATES])), draw(lengths)
        if state == "job":
            active.append(_with(job(f"r{index}", 1, owner=draw(users)), device_ids=(one.id,), started=950.0))
        if state in ("shared", "both") and total is not None:
            part = DeviceShare(bytes=4 * GIB, most=int(0.85 * total * GIB), total=total * GIB)
            row = _with(job(f"r{index}", 1, owner=draw(users)), device_ids=(one.id,), started=950.0, shares=(part,))
            active.append(row)
        if length is not None:
            seconds[f"r{index}"] = 50 + length
            ends[one.id, f"o{index}"] = 1000 + length
        other = DeviceHolder(job=f"o{index}", owner=draw(users), bytes=draw(st.integers(1, 8)) * GIB)
        if state == "held":
            held[one.id] = other
        if state in ("others", "both"):
            shared[one.id] = (other,)
    queued = []
    for number in range(draw(st.integers(1, 8))):
        low = draw(st.integers(1, 20))
        need = draw(st.none() | st.just(Need(low=low * GIB, high=(low + 2) * GIB, flops=10**12, bytes_moved=10**10)))
        share = draw(st.sampled_from([None, None, 0.5, 1.0, 3.0 * GIB, 8.0 * GIB]))
        ids = ("g0",) if draw(st.integers(0, 9)) == 0 else ()
        gpus = draw(st.sampled_from([1, 1, 1, 2, 3]))
        insisted = draw(st.sampled_from([None, None, None, LOST]))
        row = job(f"q{number}", gpus, owner=draw(users), ids=ids)
        queued.append(_with(row, need=need, share=share, insisted=insisted))
        if (length := draw(lengths)) is not None:
            seconds[f"q{number}"] = length
    return Place(tuple(devices), tuple(queued), tuple(active), held, shared, queue.Known(seconds, ends))


def _with(
    made: Job, need: Need | None = None, share: float | None = None, insisted: Message | None = None, **fields: Any
) -> Job:
    resources = msgspec.structs.replace(made.spec.resources, share=share)
    spec = msgspec.structs.replace(made.spec, need=need, resources=resources, insisted=insisted)
    return msgspec.structs.replace(made, spec=spec, **fields)


def _all(self: Pool, need: Need | None, choice: Choice, **more: Any) -> tuple[Device, ...]:
    return tuple(self.devices)


def _none(self: Prospects, *asked: Any) -> tuple[Device, ...]:
    return ()


def _possible(self: Pool, need: Need | None, choice: Choice) -> Iterable[str]:
    wanted = usable(self.devices, self.policy, choice.gpus or 1)
    need = None if choice.anyway else need
    return [device.id for device in wanted if holds(need, device, self.policy, choice.share)[0]]


@settings(max_examples=100, deadline=None)
@given(place=places(), policy=st.sampled_from(POLICIES))
def test_the_index_gives_the_turns_that_a_look_at_all_devices_gives(place: Place, policy: Policy) -> None:
    mine = place.turns(policy)
    with (
        mock.patch.object(Pool, "narrowed", _all),
        mock.patch.object(Prospects, "awaited", _none),
        mock.patch.object(Pool, "unclaimed", _possible),
    ):
        assert mine == place.turns(policy)


@settings(max_examples=60, deadline=None)
@given(
    moments=st.integers(1, 10).flatmap(lambda size: st.lists(places(size), min_size=2, max_size=3)),
    policy=st.sampled_from(POLICIES),
)
def test_an_index_that_is_kept_gives_the_turns_that_a_new_one_gives(moments: list[Place], policy: Policy) -> None:
    pools = Pools()
    for place in moments:
        assert place.turns(policy, pools) == place.turns(policy)
