"""Whatever is here and asked for, panel, preflight, placement and queue never contradict each other."""

from __future__ import annotations

import msgspec
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Decision, Need, need_of
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.placements import Placement
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings, SchedulerPolicy
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.match import match, resolved
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
from tests.matching.situations import GIB, HOST, spec_of
from tests.strategies.placing import choices, devices, estimates, policies

RANK = {"refuse": 0, "cpu": 0, "wait": 1, "run": 2}
"""What an outcome gives of a device."""


def turn_of(placed: Placement, estimate: Estimate | None, choice: Choice, here: tuple[Device, ...], policy: Policy):
    """The queue's turn of the job that a submit makes of this, if there is no other."""
    count = 0 if placed.decision.outcome == "cpu" else choice.gpus or 1
    resources = Resources(gpus=count, device_ids=choice.device_ids)
    told = placed.decision.reason if choice.anyway else None
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local", resources=resources)
    spec = msgspec.structs.replace(spec, need=need_of(estimate), insisted=told)
    job = Job(id="a", spec=spec, state="queued", created=1.0, updated=1.0)
    supply = Supply(devices=here)
    (turn,) = queue.turns(
        [job], [], claims={}, supply=lambda _: supply, settings=JobSettings(), now=100.0, policy=policy
    )
    return turn


def divided(name: str) -> tuple[Device, ...]:
    """A card that is cut into two slices."""
    card = Device(id="GPU-0", index=0, vendor="nvidia", name=name)
    room = {"memory_total": 5 * GIB, "memory_used": 0, "memory_free": 5 * GIB}
    return (card, *(msgspec.structs.replace(card, id=f"MIG-0-{at}", parent=card.id, **room) for at in range(2)))


@example(divided("Tesla T4"), None, Policy(excluded=("0",)), Choice(gpus=2), False)
@given(devices(), estimates(), policies, choices, st.booleans())
def test_the_queue_does_what_panel_and_preflight_say(
    here: tuple[Device, ...], estimate: Estimate | None, policy: Policy, choice: Choice, anyway: bool
) -> None:
    try:
        choice = msgspec.structs.replace(resolved(choice, here), anyway=anyway)
    except PaddleGpuError:
        assume(False)
    placed = match(estimate, Inventory(time=0, host=HOST, devices=here), policy=policy, choice=choice)
    decision, turn = placed.decision, turn_of(placed, estimate, choice, here, policy)
    assert turn.hopeless == (decision.outcome == "refuse"), (decision, turn)
    assert turn.start == (decision.outcome in ("run", "cpu"))
    if decision.outcome == "run":
        assert turn.device_ids == decision.device_ids == placed.device_ids
    if not turn.start:
        assert turn.reason == decision.reason
    assert not (anyway and turn.hopeless), "who insists is never told that it is hopeless"


@given(devices(), estimates(), policies, choices)
def test_it_starts_where_the_panel_says_that_it_fits(
    here: tuple[Device, ...], estimate: Estimate | None, policy: Policy, choice: Choice
) -> None:
    try:
        choice = resolved(choice, here)
    except PaddleGpuError:
        assume(False)
    placed = match(estimate, Inventory(time=0, host=HOST, devices=here), policy=policy, choice=choice)
    decision, verdicts = placed.decision, {verdict.device_id: verdict for verdict in placed.verdicts}
    known = {device.id: device for device in here}
    assume(any(not device.simulated for device in here))  # else the engine judges the names
    for name in decision.device_ids if decision.reason.code != "device_gone" else ():
        assert name in known and not known[name].simulated
        if decision.outcome == "run":
            allowed = {"fits", "unknown"} | ({"tight"} if policy.plan_for == "low" else set())
            assert verdicts[name].fit in allowed
        else:
            assert verdicts[name].fit != "never" or policy.plan_for == "high"
    assert len({known[name].vendor for name in decision.device_ids if name in known}) < 2, (
        "makers do not train together"
    )
    if len(decision.device_ids) > 1:
        assert all(known[name].parent is None for name in decision.device_ids if name in known), "nor do slices"
    if choice.device_ids:
        assert decision.outcome == "refuse" or decision.device_ids == choice.device_ids, "the choice or its refusal"
        assert decision.outcome != "cpu"
    elif decision.outcome == "run":
        excluded = [d for d in decision.device_ids if {d, str(known[d].index)} & set(policy.excluded)]
        assert not excluded and len(decision.device_ids) == (choice.gpus or 1)
        fitting = [v for v in placed.verdicts if v.fit == "fits" and not v.simulated]
        usable = [v for v in fitting if not {v.device_id, str(known[v.device_id].index)} & set(policy.excluded)]
        if usable and (choice.gpus or 1) == 1:
            assert verdicts[decision.device_ids[0]].fit == "fits", "one that fits comes before all others"


def of(need: Need | None, here: tuple[Device, ...], policy: Policy, choice: Choice) -> Decision:
    return decide(need, Offer(devices=here), policy, choice)


@given(devices(), estimates(), policies, choices, st.integers(0, 3), st.sampled_from([1, 8, 100]), st.booleans())
def test_more_memory_never_makes_it_worse(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    index: int,
    gib: int,
    larger: bool,
) -> None:
    try:
        choice = resolved(choice, here)
    except PaddleGpuError:
        assume(False)
    assume(index < len(here) and here[index].memory_total is not None)
    card = here[index]
    total, free = card.memory_total or 0, card.memory_free or 0
    more = min(gib * GIB, card.memory_used or 0) if not larger else gib * GIB
    grown = msgspec.structs.replace(
        card,
        memory_free=free + more,
        memory_total=total + more if larger else total,
        memory_used=card.memory_used if larger else (card.memory_used or 0) - more,
    )
    richer = tuple(grown if device is card else device for device in here)
    need = need_of(estimate)
    assert RANK[of(need, richer, policy, choice).outcome] >= RANK[of(need, here, policy, choice).outcome]


@given(devices(), estimates(), policies, choices, st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.booleans(), st.booleans())
def test_a_stricter_policy_never_allows_more(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    threshold: float,
    high: bool,
    excludes: bool,
) -> None:
    try:
        choice = resolved(choice, here)
    except PaddleGpuError:
        assume(False)
    stricter = msgspec.structs.replace(
        policy,
        memory_threshold=min(policy.memory_threshold, threshold),
        plan_for="high" if high else policy.plan_for,
        excluded=(*policy.excluded, "0") if excludes else policy.excluded,
    )
    need = need_of(estimate)
    assert RANK[of(need, here, stricter, choice).outcome] <= RANK[of(need, here, policy, choice).outcome]


@given(devices(), estimates(), policies, choices, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)))
def test_what_others_have_is_waited_for_and_never_given(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    taken: set[int],
    held: set[int],
) -> None:
    try:
        choice = resolved(choice, here)
    except PaddleGpuError:
        assume(False)
    offer = Offer(
        devices=here,
        taken={f"GPU-{index}": "other" for index in taken},
        held={f"GPU-{index}": DeviceHolder(job="theirs", owner="alice") for index in held},
    )
    need = need_of(estimate)
    alone, shared = of(need, here, policy, choice), decide(need, offer, policy, choice)
    assert (shared.outcome in ("refuse", "cpu")) == (alone.outcome in ("refuse", "cpu")), "others make nothing hopeless"
    assert RANK[shared.outcome] <= RANK[alone.outcome]
    if shared.outcome == "run":
        assert not {*offer.taken, *offer.held} & set(shared.device_ids)


jobs = st.lists(
    st.tuples(
        st.integers(1, 2),
        st.sets(st.sampled_from(["GPU-0", "GPU-1", "GPU-2"]), max_size=2).map(tuple),
        st.booleans(),
    ),
    max_size=3,
)


orders = st.builds(
    SchedulerPolicy,
    quotas=st.sampled_from([{}, {}, {"*": 0}, {"*": 1}, {"*": 2}, {"me": 3}]),
    quiet_hours=st.sampled_from([(), (), ("00:00-24:00",)]),
)


@given(devices(), estimates(), policies, choices, jobs, orders)
def test_behind_its_own_jobs_the_panel_says_what_the_queue_does(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    others: list[tuple[int, tuple[str, ...], bool]],
    order: SchedulerPolicy,
) -> None:
    try:
        choice = resolved(choice, here)
    except PaddleGpuError:
        assume(False)
    assume(any(not device.simulated for device in here))
    queued: list[Job] = []
    active: list[Job] = []
    claims: dict[str, str] = {}
    for number, (gpus, wanted, runs) in enumerate(others):
        ids = tuple(sorted(set(wanted) - set(claims)))
        spec = spec_of(gpus=len(ids) or gpus, device_ids=ids)
        one = Job(id=f"other{number}", spec=spec, state="queued", created=float(number), updated=1.0, device_ids=ids)
        one = msgspec.structs.replace(one, owner="me")
        if runs and ids:
            active.append(one)
            claims.update(dict.fromkeys(ids, one.id))
        else:
            queued.append(msgspec.structs.replace(one, device_ids=()))
    supply = Supply(devices=here)
    found = queue.standing(
        queued,
        active,
        "local",
        claims=claims,
        supply=lambda _: supply,
        settings=JobSettings(order=order),
        now=100.0,
        policy=policy,
        owner="me",
    )
    offer = Offer(taken=found.taken, kept=found.kept, ahead=found.ahead, jobs=found.jobs, rules=found.rules)
    placed = match(estimate, Inventory(time=0, host=HOST, devices=here), policy=policy, choice=choice, offer=offer)
    count = 0 if placed.decision.outcome == "cpu" else choice.gpus or 1
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local")
    spec = msgspec.structs.replace(
        spec, need=need_of(estimate), resources=Resources(gpus=count, device_ids=choice.device_ids)
    )
    mine = Job(id="mine", spec=spec, state="queued", created=99.0, updated=1.0, owner="me")
    *_, turn = queue.turns(
        [*queued, mine],
        active,
        claims=claims,
        supply=lambda _: supply,
        settings=JobSettings(order=order),
        now=100.0,
        policy=policy,
    )
    decision = placed.decision
    assert turn.hopeless == (decision.outcome == "refuse")
    if decision.outcome != "cpu":
        assert turn.start == (decision.outcome == "run"), (decision, turn)
        assert turn.start or turn.reason == decision.reason
        assert not turn.start or turn.device_ids == decision.device_ids
