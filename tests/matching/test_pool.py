"""An index of many devices says what the decision on all of them says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.learned.experience import Experience
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
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
                vendor="nvidia",
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
        Choice, gpus=st.sampled_from([None, 1, 1, 2, 3]), share=st.sampled_from([None, None, 0.5, 8.0 * GIB])
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


@settings(max_examples=60, deadline=None)
@given(
    devices=device_lists(),
    moves=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 16)), max_size=20),
    share=st.sampled_from([None, 0.25]),
)
def test_what_is_taken_shared_and_used_meanwhile_is_known(
    devices: tuple[Device, ...], moves: list[tuple[int, int]], share: float | None
) -> None:
    policy, need = Policy(), Need(low=3 * GIB, high=4 * GIB)
    taken: dict[str, str] = {}
    shared: dict[str, tuple[DeviceHolder, ...]] = {}
    pool, choice = Pool(devices, policy, taken, shared=shared), Choice(gpus=1, share=share)
    pool.decide(need, choice)
    for at, used in moves:
        if at >= len(devices) or devices[at].memory_total is None:
            continue
        name = devices[at].id
        if used % 4 == 0:
            taken[name] = "other"
        elif used % 4 == 1:
            taken.pop(name, None)
        elif used % 4 == 2:
            shared[name] = (*shared.get(name, ()), DeviceHolder(job=f"s{used}", bytes=used * GIB))
        else:
            pool.use(name, used * GIB)
        pool.changed([name])
    fresh = decide(need, Offer(devices=tuple(pool.devices), taken=taken, shared=shared), policy, choice)
    mine = pool.decide(need, choice)
    assert (mine.outcome, mine.device_ids, mine.shares) == (fresh.outcome, fresh.device_ids, fresh.shares)
