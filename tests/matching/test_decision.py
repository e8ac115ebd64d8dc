"""One decision: whatever is here and asked for, panel, preflight, placement and queue never contradict each other."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Decision, Need, need_of
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate, Fit, Remedy
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.placements import Placement
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.decision import Offer, decide
from jupyter_paddle_gpu.matching.match import match, resolved
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.ways import ways_out

GIB = 1 << 30
HOST = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=64 * GIB, memory_available=32 * GIB)
LOST = Message(code="card_lost", text="This card does not answer.")
RANK = {"refuse": 0, "cpu": 0, "wait": 1, "run": 2}
"""What an outcome gives of a device."""

sizes = st.integers(0, 100).map(lambda gib: gib * GIB)


@st.composite
def devices(draw: st.DrawFn) -> tuple[Device, ...]:
    """Up to four cards: full, empty, silent, lost, simulated, or divided."""
    found: list[Device] = []
    for index in range(draw(st.integers(0, 4))):
        total = draw(st.none() | st.sampled_from([8, 16, 24, 40, 80]).map(lambda gib: gib * GIB))
        kind = draw(st.sampled_from(["", "", "", "", "simulated", "lost", "divided"]))
        used = None if total is None else int(total * draw(st.sampled_from([0, 0, 0.1, 0.5, 0.95, 1])))
        name = draw(st.sampled_from(["Tesla T4", "NVIDIA A100-SXM4-80GB", "Card"]))
        card = Device(
            id=f"GPU-{index}",
            index=index,
            vendor="nvidia",
            name=name,
            memory_total=total,
            memory_used=used,
            memory_free=None if total is None or used is None else total - used,
            simulated=kind == "simulated",
            problem=LOST if kind == "lost" else None,
        )
        found.append(card)
        if kind == "divided":
            half = {"memory_total": 5 * GIB, "memory_used": 0, "memory_free": 5 * GIB}
            found += [
                msgspec.structs.replace(card, id=f"MIG-{index}-{part}", parent=card.id, **half) for part in range(2)
            ]
    return tuple(found)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate | None:
    """None where a question is open."""
    if draw(st.integers(0, 5)) == 0:
        return None
    high = draw(st.integers(1, 100)) * GIB
    low = int(high * draw(st.sampled_from([1, 0.95, 0.5])))
    flops = draw(st.none() | st.just(10**12))
    return Estimate(status="ok", evidence="trace", peak_bytes=high, low=low, high=high, flops_per_step=flops)


policies = st.builds(
    Policy,
    memory_threshold=st.sampled_from([0.5, 0.9, 1.0]),
    plan_for=st.sampled_from(["low", "high"]),
    prefer=st.sampled_from(["most_free", "least_free", "fastest"]),
    excluded=st.sets(st.sampled_from(["0", "1", "GPU-2"]), max_size=2).map(tuple),
)
choices = st.builds(
    Choice,
    gpus=st.none() | st.integers(0, 3),
    device_ids=st.just(()) | st.sets(st.sampled_from(["0", "1", "GPU-1", "GPU-2", "MIG-0-1"]), max_size=2).map(tuple),
)


def turn_of(placed: Placement, estimate: Estimate | None, choice: Choice, here: tuple[Device, ...], policy: Policy):
    """The queue's turn of the job that a submit makes of this, if there is no other."""
    count = 0 if placed.decision.outcome == "cpu" else choice.gpus or 1
    resources = Resources(gpus=count, device_ids=choice.device_ids)
    told = placed.decision.reason if choice.anyway else None
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local", resources=resources)
    spec = msgspec.structs.replace(spec, need=need_of(estimate), insisted=told)
    job = Job(id="a", spec=spec, state="queued", created=1.0, updated=1.0)
    supply = queue.Supply(devices=here)
    (turn,) = queue.turns(
        [job], [], claims={}, supply=lambda _: supply, settings=JobSettings(), now=100.0, policy=policy
    )
    return turn


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
    more = min(gib * GIB, total - free) if not larger else gib * GIB
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


def card(index: int, total: int, used: int = 0) -> Device:
    sizes = {"memory_total": total * GIB, "memory_used": used * GIB, "memory_free": (total - used) * GIB}
    return Device(id=f"GPU-{index}", index=index, vendor="nvidia", name="Card", **sizes)


LIMIT = int(24 * GIB * 0.85)
TOO_LARGE = Estimate(status="ok", evidence="trace", batch_size=512, peak_bytes=46 * GIB, low=44 * GIB, high=47 * GIB)


def remedy(change: str, value: object, largest: int | None, **more: object) -> Remedy:
    says = Message(code=change, text=f"{change} {value}")
    return Remedy(
        change=change,
        says=says,
        request={change: value, **more},  # type: ignore[dict-item]
        peak_bytes=GIB,
        saves_bytes=GIB,
        largest_batch=largest,
    )


def test_ways_out_are_read_off_the_details_and_never_invented() -> None:
    assert ways_out(TOO_LARGE, LIMIT) is None, "nobody looked"
    found = msgspec.structs.replace(
        TOO_LARGE,
        fits=(Fit(device="Card", limit_bytes=LIMIT, largest_batch=252),),
        remedies=(
            remedy("amp", "O2", 410),
            remedy("amp", "O1", 410),
            remedy("recompute", True, 600),
            remedy("batch_size", 256, None),
            remedy("accumulation", 4, 100, batch_size=512),
            remedy("set_to_zero", False, None),
        ),
    )
    here = (card(0, 24), card(1, 8))
    decision = match(found, Inventory(time=0, host=HOST, devices=here)).decision
    assert (decision.outcome, decision.searched) == ("refuse", True)
    assert decision.reason.render() == "Needs 47.0 GiB; the largest card here has at most 20.4 GiB free."
    assert decision.reason.render_hint() == (
        "Fits with batch size 252, or with mixed precision O1 at batch size 410, or with recompute."
    )
    assert [way.request for way in decision.ways] == [
        {"batch_size": 252},
        {"amp": "O1", "batch_size": 410},
        {"recompute": True},
    ]
    smaller = (card(1, 8),)
    decision = match(found, Inventory(time=0, host=HOST, devices=smaller)).decision
    assert (decision.searched, decision.ways) == (False, ()), "they were computed for a larger card"
    none = msgspec.structs.replace(
        found, fits=(Fit(device="Card", limit_bytes=LIMIT, largest_batch=None),), remedies=()
    )
    decision = match(none, Inventory(time=0, host=HOST, devices=here)).decision
    assert (decision.searched, decision.ways) == (True, ())
    assert "Nothing that was tried" in decision.reason.render_hint()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice(device_ids=("GPU-1",)), "Needs 47.0 GiB; GPU 1 (Card) has at most 6.80 GiB free."),
        (Choice(gpus=2), "Needs 47.0 GiB on each of 2 cards; the 2 largest here have at most 6.80 GiB free each."),
        (Choice(gpus=3), "3 GPUs were asked for; 2 can be used here."),
    ],
)
def test_each_choice_is_refused_with_its_own_figure(choice: Choice, sentence: str) -> None:
    here = (card(0, 24), card(1, 8))
    decision = match(TOO_LARGE, Inventory(time=0, host=HOST, devices=here), choice=choice).decision
    assert (decision.outcome, decision.reason.render()) == ("refuse", sentence)


def test_the_way_onto_several_devices_takes_them_too() -> None:
    limit = (Fit(device="Card", limit_bytes=LIMIT, largest_batch=None),)
    offered = remedy("devices", 2, 256, batch_size=256)
    found = msgspec.structs.replace(TOO_LARGE, fits=limit, remedies=(offered,))
    ways = match(found, Inventory(time=0, host=HOST, devices=(card(0, 24), card(1, 24)))).decision.ways
    assert [(way.gpus, way.request) for way in ways] == [(2, {"devices": 2, "batch_size": 256})]
    short = msgspec.structs.replace(found, remedies=(msgspec.structs.replace(offered, largest_batch=100),))
    assert match(short, Inventory(time=0, host=HOST, devices=(card(0, 24), card(1, 24)))).decision.ways == ()


SMALL = Estimate(status="ok", evidence="trace", batch_size=64, peak_bytes=6 * GIB, low=6 * GIB, high=6 * GIB)


def spec_of(**resources: object) -> JobSpec:
    wanted = Resources(**resources)  # type: ignore[arg-type]
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local", resources=wanted)
    return msgspec.structs.replace(spec, need=need_of(SMALL))


def behind(queued: list[Job], active: list[Job], here: tuple[Device, ...]) -> Offer:
    """The offer to a job that comes behind these."""
    claims = {device: job.id for job in active for device in job.device_ids}
    found = queue.standing(
        queued,
        active,
        "local",
        claims=claims,
        supply=lambda _: queue.Supply(devices=here),
        settings=JobSettings(),
        now=100.0,
    )
    return Offer(devices=here, taken=found.taken, kept=found.kept, ahead=found.ahead, left=found.left)


def test_a_wait_says_who_has_the_device_until_when_and_what_starts_sooner() -> None:
    here = (card(0, 24),)
    running = Job(
        id="first",
        spec=spec_of(gpus=1, seconds=1000),
        state="running",
        created=1.0,
        updated=1.0,
        started=60.0,
        device_ids=("GPU-0",),
    )
    decision = match(SMALL, Inventory(time=0, host=HOST, devices=here), offer=behind([], [running], here)).decision
    assert decision.outcome == "wait"
    assert decision.reason.render() == "Waits for device GPU-0, which job first has for about 16 min more."
    assert [note.params["job"] for note in decision.notes] == ["first"]
    assert [(way.gpus, way.label.render()) for way in decision.ways] == [(0, "Run on the CPU")]
    waiting = Job(id="second", spec=spec_of(gpus=1), state="queued", created=2.0, updated=2.0)
    decision = match(
        SMALL, Inventory(time=0, host=HOST, devices=here), offer=behind([waiting], [running], here)
    ).decision
    assert (decision.outcome, decision.reason.params["job"]) == ("wait", "second"), "nobody is overtaken"


def test_a_full_card_is_waited_for_or_a_smaller_step_starts_now() -> None:
    here = (card(0, 24, used=18),)
    halved = remedy("batch_size", 32, None)
    known = msgspec.structs.replace(SMALL, remedies=(halved, remedy("amp", "O1", None)))
    decision = match(known, Inventory(time=0, host=HOST, devices=here)).decision
    assert (decision.outcome, decision.reason.code) == ("wait", "chosen_later")
    assert [(way.change, way.gpus) for way in decision.ways] == [("batch_size", None), ("amp", None), ("gpus", 0)]


def test_of_cards_that_others_have_the_one_that_is_free_first_is_told() -> None:
    here = (card(0, 24), card(1, 24), card(2, 8))
    offer = Offer(
        devices=here, taken={"GPU-0": "a", "GPU-1": "b", "GPU-2": "c"}, left={"a": 7000.0, "b": 900.0, "c": 60.0}
    )
    need = Need(low=10 * GIB, high=12 * GIB)
    decision = decide(need, offer, Policy(), Choice(gpus=1))
    assert decision.outcome == "wait"
    assert [note.render() for note in decision.notes] == [
        "GPU 1 (Card) is thought to be free first, in about 15 min, when job b ends.",
        "Job a has GPU 0 (Card) for about 2 h more.",
    ], "the third is too small, however soon it is free"


def test_a_step_that_is_larger_than_the_machine_is_refused_unless_one_insists() -> None:
    offer = Offer(memory=4 * GIB)
    choice = Choice(gpus=0)
    decision = decide(None, offer, Policy(), choice, host=5 * GIB)
    assert (decision.outcome, decision.reason.code) == ("refuse", "step_too_large")
    assert decide(None, offer, Policy(), msgspec.structs.replace(choice, anyway=True), host=5 * GIB).outcome == "cpu"
    assert decide(None, offer, Policy(), choice, host=3 * GIB).outcome == "cpu"
    assert decide(None, Offer(), Policy(), choice, host=5 * GIB).outcome == "cpu", "nothing limits it"


jobs = st.lists(
    st.tuples(
        st.integers(1, 2),
        st.sets(st.sampled_from(["GPU-0", "GPU-1", "GPU-2"]), max_size=2).map(tuple),
        st.booleans(),
    ),
    max_size=3,
)


@given(devices(), estimates(), policies, choices, jobs)
def test_behind_its_own_jobs_the_panel_says_what_the_queue_does(
    here: tuple[Device, ...],
    estimate: Estimate | None,
    policy: Policy,
    choice: Choice,
    others: list[tuple[int, tuple[str, ...], bool]],
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
        if runs and ids:
            active.append(one)
            claims.update(dict.fromkeys(ids, one.id))
        else:
            queued.append(msgspec.structs.replace(one, device_ids=()))
    supply = queue.Supply(devices=here)
    found = queue.standing(
        queued,
        active,
        "local",
        claims=claims,
        supply=lambda _: supply,
        settings=JobSettings(),
        now=100.0,
        policy=policy,
    )
    offer = Offer(taken=found.taken, kept=found.kept, ahead=found.ahead)
    placed = match(estimate, Inventory(time=0, host=HOST, devices=here), policy=policy, choice=choice, offer=offer)
    count = 0 if placed.decision.outcome == "cpu" else choice.gpus or 1
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="local")
    spec = msgspec.structs.replace(
        spec, need=need_of(estimate), resources=Resources(gpus=count, device_ids=choice.device_ids)
    )
    mine = Job(id="mine", spec=spec, state="queued", created=99.0, updated=1.0)
    *_, turn = queue.turns(
        [*queued, mine],
        active,
        claims=claims,
        supply=lambda _: supply,
        settings=JobSettings(),
        now=100.0,
        policy=policy,
    )
    decision = placed.decision
    assert turn.hopeless == (decision.outcome == "refuse")
    if decision.outcome != "cpu":
        assert turn.start == (decision.outcome == "run"), (decision, turn)
        assert turn.start or turn.reason == decision.reason
        assert not turn.start or turn.device_ids == decision.device_ids


def test_a_device_that_is_gone_is_waited_for() -> None:
    need = need_of(TOO_LARGE)
    decision = of(need, (card(0, 80),), Policy(), Choice(gpus=1, device_ids=("GPU-7",)))
    assert (decision.outcome, decision.reason.code) == ("wait", "device_gone")
    named = Choice(gpus=1, device_ids=("GPU-7",))
    unseen = decide(need, Offer(judged=True), Policy(), named)
    assert (unseen.outcome, unseen.device_ids) == ("run", ("GPU-7",)), "where none is known a daemon judges"
    none = decide(need, Offer(), Policy(), named)
    assert (none.outcome, none.reason.code, none.ways[0].gpus) == ("refuse", "no_device_to_name", 0)
    insisted = decide(need, Offer(), Policy(), msgspec.structs.replace(named, anyway=True))
    assert (insisted.outcome, insisted.reason.code) == ("wait", "device_gone")
