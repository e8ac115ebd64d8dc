"""An index of many devices says what the decision on all of them says."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.learned.experience import Experience
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy, Weights
from jupyter_paddle_gpu.matching.pool import Pool

from .learned.test_bandit import SLOW_3090, history

GIB = 1 << 30
NAMES = ("Tesla T4", "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 3090", "A card nobody knows")
LOST = Message(code="card_lost", text="This card does not answer.")
POLICIES = (
    Policy(),
    Policy(prefer="least_free"),
    Policy(prefer="fastest"),
    Policy(prefer="score", plan_for="low"),
    Policy(preferred_devices=("T4",), prices={"T4": 0.2, "A100 SXM 80GB": 2.0}),
    Policy(prefer="score", weights=Weights(balance=0)),
    Policy(prefer="score", weights=Weights(balance=0, packing=2)),
    Policy(experience=Experience(runs=history(SLOW_3090), active=True)),
)


@st.composite
def device_lists(draw: st.DrawFn) -> tuple[Device, ...]:
    found = []
    for index in range(draw(st.integers(0, 14))):
        name, total = draw(st.sampled_from(NAMES)), draw(st.sampled_from([None, 16, 16, 80]))
        used = None if total is None else draw(st.sampled_from([0, 0, 4, 12, total]))
        found.append(
            Device(
                id=f"g{index}",
                index=index,
                vendor=draw(st.sampled_from(["nvidia", "nvidia", "nvidia", "ascend"])),
                name=name,
                memory_total=None if total is None else total * GIB,
                memory_used=None if used is None else used * GIB,
                memory_free=None if total is None or used is None else (total - used) * GIB,
                simulated=draw(st.integers(0, 9)) == 0,
                problem=LOST if draw(st.integers(0, 9)) == 0 else None,
            )
        )
    return tuple(found)


needs = st.none() | st.builds(
    lambda low, more: Need(low=low * GIB, high=(low + more) * GIB, flops=10**12, bytes_moved=10**10),
    st.integers(1, 70),
    st.integers(0, 6),
)


holders = st.lists(st.sampled_from([4 * GIB, 8 * GIB]), max_size=2).map(
    lambda sizes: tuple(DeviceHolder(job=f"o{at}", owner="ben", bytes=size) for at, size in enumerate(sizes))
)
shares = st.dictionaries(st.sampled_from([f"g{at}" for at in range(14)]), holders, max_size=8)


@settings(max_examples=400, deadline=None)
@given(
    devices=device_lists(),
    need=needs,
    policy=st.sampled_from(POLICIES),
    choice=st.builds(
        Choice,
        gpus=st.sampled_from([None, 1, 1, 2, 3]),
        share=st.sampled_from([None, None, 0.5, 8.0 * GIB]),
        anyway=st.sampled_from([False, False, True]),
    ),
    taken=st.sets(st.integers(0, 13), max_size=6),
    shared=shares,
)
def test_the_index_says_what_the_decision_on_all_devices_says(
    devices: tuple[Device, ...],
    need: Need | None,
    policy: Policy,
    choice: Choice,
    taken: set[int],
    shared: dict[str, tuple[DeviceHolder, ...]],
) -> None:
    claims = {f"g{at}": "other" for at in taken if at < len(devices)}
    offer = Offer(devices=devices, taken=claims, shared=shared)
    pool = Pool(devices, policy, claims, shared=shared)
    mine, whole = pool.decide(need, choice), decide(need, offer, policy, choice)
    assert mine.outcome == whole.outcome
    if whole.outcome == "run":
        assert (mine.device_ids, mine.shares, mine.reason.code) == (whole.device_ids, whole.shares, whole.reason.code)
    else:
        assert mine.reason == whole.reason


@settings(max_examples=100, deadline=None)
@given(
    devices=device_lists(),
    moves=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 6), st.integers(0, 3)), max_size=20),
    policy=st.sampled_from([*POLICIES, Policy(heat_ceiling=80)]),
    renewed=st.booleans(),
)
def test_what_changed_meanwhile_is_known_as_a_new_index_knows_it(
    devices: tuple[Device, ...], moves: list[tuple[int, int, int]], policy: Policy, renewed: bool
) -> None:
    taken: dict[str, str] = {}
    held: dict[str, DeviceHolder] = {}
    shared: dict[str, tuple[DeviceHolder, ...]] = {}
    pool = Pool(devices, policy, taken, held=held, shared=shared)
    assert contents(pool) == contents(Pool(devices, policy))
    if renewed:  # whoever asks again brings tables of his own
        taken, held, shared = dict(taken), dict(held), dict(shared)
    here = list(devices)
    for at, what, size in moves:
        if at >= len(here):
            continue
        name = here[at].id
        if what == 0:
            taken[name] = "other"
        elif what == 1:
            held[name] = DeviceHolder(job="h", owner=("ben", "eve", "")[size % 3])
        elif what == 2:
            shared[name] = (*shared.get(name, ()), DeviceHolder(job=f"s{size}", bytes=size * GIB))
        elif what == 3:
            for table in (taken, held, shared):
                table.pop(name, None)
        elif renewed:
            here[at] = changed(here[at], what, size)
        if not renewed:
            pool.changed([name])
    if renewed:
        assert pool.renew(here, taken, held=held, shared=shared, links=())
    fresh = Pool(here, policy, taken, held=held, shared=shared)
    assert contents(pool) == contents(fresh)
    need = Need(low=3 * GIB, high=4 * GIB)
    for choice in (Choice(gpus=1), Choice(gpus=1, share=0.25), Choice(gpus=2)):
        assert pool.decide(need, choice) == fresh.decide(need, choice)


def changed(device: Device, what: int, size: int) -> Device:
    """A device some time later: its use, its health or its heat."""
    if what == 4 and device.memory_total is not None:
        used = min(device.memory_total, 5 * size * GIB)
        return msgspec.structs.replace(device, memory_used=used, memory_free=device.memory_total - used)
    if what == 5:
        return msgspec.structs.replace(device, problem=LOST if size % 2 else None)
    return msgspec.structs.replace(device, temperature=30 * size)


def contents(pool: Pool) -> list[object]:
    """All that an index knows."""
    found: list[object] = [pool.devices]
    for choice in (Choice(gpus=1), Choice(gpus=1, share=0.5)):
        kinds = {kind.key: kind for kind in pool.kinds(choice)}
        found.append({key: (kind.size, kind.open, kind.gone) for key, kind in kinds.items()})
    return found


def test_of_other_devices_a_new_index_is_made() -> None:
    one, other = (Device(id=name, index=0, vendor="nvidia", name="Tesla T4") for name in ("a", "b"))
    slice_of = msgspec.structs.replace(other, parent="a")
    pool = Pool((one, other), Policy())
    for devices in ((one,), (other, one), (one, slice_of)):
        assert not pool.renew(devices, {}, held={}, shared={}, links=())
    assert pool.renew((one, other), {}, held={}, shared={}, links=())
