"""The choice among devices by the policy's aims: situations with the expected choice, and what always holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceDetails, DeviceHolder, DeviceLink, DeviceProcess
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy, Weights
from jupyter_paddle_gpu.matching.score import scores, table

GIB = 2**30
NAMES = {
    "a100": ("NVIDIA A100-SXM4-80GB", 80),
    "a100s": ("NVIDIA A100-SXM4-40GB", 40),
    "v100": ("Tesla V100-SXM2-32GB", 32),
    "3090": ("NVIDIA GeForce RTX 3090", 24),
    "t4": ("Tesla T4", 15),
    "h100": ("NVIDIA H100 80GB HBM3", 80),
    "h20": ("NVIDIA H20", 96),
    "910c": ("Ascend 910C", 64),
    "910b": ("Ascend 910B2C", 64),
    "p800": ("Kunlun P800 PCIe", 96),
    "mlu": ("MLU370-X4", 23),
    "what": ("A card nobody knows", 48),
}


def card(kind: str, number: int = 0, *, used: float = 0, **more: Any) -> Device:
    name, size = NAMES[kind]
    total = size * GIB
    return Device(
        id=f"{kind}-{number}",
        index=number,
        vendor="nvidia",
        name=name,
        memory_total=total,
        memory_used=int(used * GIB),
        memory_free=total - int(used * GIB),
        **more,
    )


NEED = Need(low=8 * GIB, high=10 * GIB, flops=10**13, bytes_moved=10**11, amp="O1")
SMALL = msgspec.structs.replace(NEED, low=1 * GIB, high=2 * GIB)
LARGE = msgspec.structs.replace(NEED, low=50 * GIB, high=60 * GIB)
UNTOLD = Need(low=8 * GIB, high=10 * GIB)
PRICES = {"A100 SXM 80GB": 2.0, "RTX 3090": 0.3, "T4": 0.2, "H100 SXM": 4.0, "V100 SXM 32GB": 0.8}
BROKEN = Message(code="card_broken", text="GPU does not answer.")
OTHERS = (DeviceProcess(pid=1, memory_bytes=GIB),)
OURS = (DeviceProcess(pid=2, memory_bytes=GIB, job_id="j"),)


def slow(*reasons: str) -> DeviceDetails:
    return DeviceDetails(throttling=reasons)


def policy(**fields: Any) -> Policy:
    return Policy(**fields)


def weights(**given: float) -> Weights:
    """These aims and no others."""
    none = dict.fromkeys(Weights.__struct_fields__, 0.0)
    return Weights(**{**none, **given})


Case = tuple[str, Need | None, list[Device], Policy, str, str]
"""What it is about, the need, the devices, the policy; the expected device (empty: none), the reason's code."""
CASES: list[Case] = [
    # One aim alone.
    ("time", NEED, [card("t4"), card("a100", 1)], policy(weights=weights(time=1)), "a100-1", "chosen_best"),
    ("time", NEED, [card("h100"), card("a100", 1)], policy(weights=weights(time=1)), "h100-0", "chosen_best"),
    ("time", NEED, [card("3090"), card("v100", 1)], policy(weights=weights(time=1)), "v100-1", "chosen_best"),
    ("time of fp32", msgspec.structs.replace(NEED, amp=None), [card("v100"), card("3090", 1)],
     policy(weights=weights(time=1)), "3090-1", "chosen_best"),
    ("time bound by memory", Need(low=1, high=2, bytes_moved=10**12), [card("3090"), card("v100", 1)],
     policy(weights=weights(time=1)), "3090-0", "chosen_best"),
    ("cost", NEED, [card("a100"), card("3090", 1)], policy(prices=PRICES, weights=weights(cost=1)), "3090-1",
     "chosen_best"),
    ("cost", NEED, [card("a100"), card("h100", 1)], policy(prices=PRICES, weights=weights(cost=1)), "a100-0",
     "chosen_best"),
    ("a slow cheap card costs more", NEED, [card("t4"), card("3090", 1)],
     policy(prices={"T4": 0.4, "RTX 3090": 0.3}, weights=weights(cost=1)), "3090-1", "chosen_best"),
    ("a card for nothing", NEED, [card("a100"), card("3090", 1)],
     policy(prices={"A100 SXM 80GB": 0, "RTX 3090": 0.3}, weights=weights(cost=1)), "a100-0", "chosen_best"),
    ("balance", NEED, [card("a100", used=40), card("3090", 1)], policy(weights=weights(balance=1)), "a100-0",
     "chosen_best"),
    ("balance", NEED, [card("a100", used=62), card("3090", 1)], policy(weights=weights(balance=1)), "3090-1",
     "chosen_best"),
    ("preference", NEED, [card("3090"), card("v100", 1)], policy(preferred_devices=("V100-32GB", "RTX_3090")),
     "v100-1", "chosen_best"),
    ("preference", NEED, [card("a100"), card("3090", 1)], policy(preferred_devices=("RTX_3090",)), "3090-1",
     "chosen_best"),
    ("the literal file's", NEED, [card("3090"), card("v100", 1), card("a100s", 2)],
     policy(preferred_devices=("A100-SXM4-40GB", "V100-32GB", "RTX_3090"), memory_threshold=0.85), "a100s-2",
     "chosen_best"),
    ("the literal file's without its first", NEED, [card("3090"), card("v100", 1)],
     policy(preferred_devices=("A100-SXM4-40GB", "V100-32GB", "RTX_3090"), memory_threshold=0.85), "v100-1",
     "chosen_best"),
    ("preference by the driver's name", NEED, [card("what"), card("a100", 1)],
     policy(preferred_devices=("A card nobody knows",)), "what-0", "chosen_best"),
    ("home-grown", NEED, [card("a100"), card("910b", 1)], policy(home_grown_first=True), "910b-1", "chosen_best"),
    ("home-grown", NEED, [card("h100"), card("p800", 1)], policy(home_grown_first=True), "p800-1", "chosen_best"),
    ("home-grown", NEED, [card("3090"), card("mlu", 1)], policy(home_grown_first=True), "mlu-1", "chosen_best"),
    ("home-grown, the faster one", NEED, [card("mlu"), card("910c", 1)], policy(home_grown_first=True), "910c-1",
     "chosen_best"),
    ("home-grown, but too small", LARGE, [card("a100"), card("mlu", 1)], policy(home_grown_first=True), "a100-0",
     "chosen_best"),
    ("no home-grown there", NEED, [card("a100"), card("t4", 1)], policy(home_grown_first=True), "a100-0",
     "chosen_best"),
    # Several aims.
    ("cost and time", NEED, [card("h100"), card("t4", 1)], policy(prices=PRICES), "h100-0", "chosen_best"),
    ("cost before time", NEED, [card("h100"), card("3090", 1)],
     policy(prices=PRICES, weights=weights(cost=10, time=1)), "3090-1", "chosen_best"),
    ("time before cost", NEED, [card("h100"), card("3090", 1)],
     policy(prices=PRICES, weights=weights(cost=1, time=10)), "h100-0", "chosen_best"),
    ("preference outweighs time", NEED, [card("h100"), card("t4", 1)], policy(preferred_devices=("T4",)), "t4-1",
     "chosen_best"),
    ("preference does not fit", LARGE, [card("h100"), card("t4", 1)], policy(preferred_devices=("T4",)), "h100-0",
     "chosen_best"),
    ("preference is full", NEED, [card("h100"), card("t4", 1, used=12)], policy(preferred_devices=("T4",)), "h100-0",
     "chosen_best"),
    ("score by name", NEED, [card("t4"), card("h100", 1)], policy(prefer="score"), "h100-1", "chosen_best"),
    # Little memory left over.
    ("packing", SMALL, [card("a100"), card("t4", 1)], policy(weights=weights(packing=1)), "t4-1", "chosen_best"),
    ("packing: the fullest in which it fits, not the smallest", NEED, [card("a100", used=50), card("3090", 1)],
     policy(weights=weights(packing=1)), "a100-0", "chosen_best"),
    ("packing: the small one is full", NEED, [card("a100"), card("t4", 1, used=8)],
     policy(weights=weights(packing=1)), "a100-0", "chosen_best"),
    ("packing: a large job takes a large room", LARGE, [card("h20"), card("a100", 1), card("t4", 2)],
     policy(weights=weights(packing=1)), "a100-1", "chosen_best"),
    ("packing as for the most cards in use: a slow card before a fast one", SMALL, [card("h100"), card("t4", 1)],
     policy(prefer="score", weights=Weights(balance=0, packing=2)), "t4-1", "chosen_best"),
    ("packing as for the most cards in use: of rooms alike the fast one", NEED, [card("h100", used=55), card("t4", 1)],
     policy(prefer="score", weights=Weights(balance=0, packing=2)), "h100-0", "chosen_best"),
    ("packing outweighed by time", SMALL, [card("h100"), card("t4", 1)],
     policy(weights=weights(packing=1, time=2)), "h100-0", "chosen_best"),
    ("packing outweighed by preference", NEED, [card("h100"), card("t4", 1)],
     policy(preferred_devices=("H100",), weights=Weights(balance=0, packing=1)), "h100-0", "chosen_best"),
    # What is not known.
    ("nobody knows the card", NEED, [card("what"), card("t4", 1)], policy(weights=weights(time=1)), "t4-1",
     "chosen_best"),
    ("half for the unknown", NEED, [card("what"), card("t4", 1), card("h100", 2)], policy(weights=weights(time=1)),
     "h100-2", "chosen_best"),
    ("half for the unknown, before a slow one", NEED, [card("what"), card("t4", 1), card("h100", 2, used=75)],
     policy(weights=weights(time=1)), "t4-1", "chosen_best"),
    ("no operations known", UNTOLD, [card("t4"), card("a100", 1)], policy(weights=weights(time=1, balance=1)),
     "a100-1", "chosen_best"),
    ("no need known", None, [card("t4"), card("a100", 1)], policy(prefer="score"), "a100-1", "chosen_unjudged"),
    ("no price known", NEED, [card("t4"), card("a100", 1)], policy(prices={"H200": 3}), "a100-1", "chosen_best"),
    # Not scored: as before.
    ("free memory", NEED, [card("a100", used=60), card("3090", 1)], policy(), "3090-1", "chosen_freest"),
    ("least free", NEED, [card("a100"), card("3090", 1)], policy(prefer="least_free"), "3090-1", "chosen_smallest"),
    ("market's prices alone do not score", NEED, [card("a100"), card("3090", 1)], policy(market=PRICES), "a100-0",
     "chosen_freest"),
    # Ruled out.
    ("too dear", NEED, [card("h100"), card("3090", 1)], policy(prices=PRICES, price_ceiling=1), "3090-1",
     "chosen_remaining"),
    ("too dear on the market", NEED, [card("h100"), card("3090", 1)], policy(market=PRICES, price_ceiling=1),
     "3090-1", "chosen_remaining"),
    ("the place's price before the market's", NEED, [card("h100"), card("3090", 1)],
     policy(market=PRICES, prices={"H100 SXM": 0.5}, price_ceiling=1), "h100-0", "chosen_best"),
    ("no price is not too dear", NEED, [card("h20"), card("h100", 1)], policy(prices=PRICES, price_ceiling=1),
     "h20-0", "chosen_remaining"),
    ("all too dear", NEED, [card("h100")], policy(prices=PRICES, price_ceiling=1), "", "cpu_none_usable"),
    ("too hungry by its sheet", NEED, [card("h100"), card("t4", 1)], policy(power_ceiling=100), "t4-1",
     "chosen_remaining"),
    ("limited enough", NEED, [card("h100", power_limit=90.0), card("t4", 1)], policy(power_ceiling=100), "h100-0",
     "chosen_freest"),
    ("too hot", NEED, [card("a100", temperature=90), card("t4", 1)], policy(heat_ceiling=85), "t4-1",
     "chosen_remaining"),
    ("warm enough", NEED, [card("a100", temperature=85), card("t4", 1)], policy(heat_ceiling=85), "a100-0",
     "chosen_freest"),
    ("no heat told", NEED, [card("a100"), card("t4", 1)], policy(heat_ceiling=85), "a100-0", "chosen_freest"),
    ("held up by its hardware", NEED, [card("a100", details=slow("hardware_heat")), card("t4", 1)], policy(), "t4-1",
     "chosen_remaining"),
    ("a brake", NEED, [card("a100", details=slow("power_brake", "idle")), card("t4", 1)], policy(), "t4-1",
     "chosen_remaining"),
    ("a power cap is everyday", NEED, [card("a100", details=slow("power_cap")), card("t4", 1)], policy(), "a100-0",
     "chosen_freest"),
    ("prohibited", NEED, [card("a100", details=DeviceDetails(compute_mode="prohibited")), card("t4", 1)], policy(),
     "t4-1", "chosen_remaining"),
    ("exclusive", NEED, [card("a100", processes=OTHERS), card("t4", 1)], policy(sharing="exclusive"), "t4-1",
     "chosen_remaining"),
    ("exclusive of us", NEED, [card("a100", processes=OURS), card("t4", 1)], policy(sharing="exclusive"), "a100-0",
     "chosen_freest"),
    ("shared", NEED, [card("a100", processes=OTHERS), card("t4", 1)], policy(), "a100-0", "chosen_freest"),
    ("excluded", NEED, [card("a100"), card("t4", 1)], policy(excluded=("0",), prefer="score"), "t4-1",
     "chosen_remaining"),
    ("broken", NEED, [card("a100", problem=BROKEN), card("t4", 1)], policy(prefer="score"), "t4-1", "chosen_remaining"),
    ("simulated", NEED, [card("h100", simulated=True), card("t4", 1)], policy(prefer="score"), "t4-1", "chosen_only"),
    ("divided", NEED, [card("a100"), card("t4", 1, parent="a100-0")], policy(prefer="score"), "t4-1",
     "chosen_remaining"),
    ("threshold", Need(low=35 * GIB, high=36 * GIB), [card("a100s"), card("a100", 1)],
     policy(memory_threshold=0.85, prefer="score"), "a100-1", "chosen_best"),
    ("over the threshold everywhere", Need(low=35 * GIB, high=36 * GIB), [card("a100s")],
     policy(memory_threshold=0.85, prefer="score"), "", "fits_nowhere"),
    ("only within the range", Need(low=8 * GIB, high=15 * GIB), [card("t4")],
     policy(prefer="score", plan_for="low"), "t4-0", "chosen_tight"),
    ("what fits before what may fit", Need(low=8 * GIB, high=15 * GIB), [card("t4"), card("what", 1)],
     policy(preferred_devices=("T4",)), "what-1", "chosen_best"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("need", "devices", "rules", "expected", "code"),
    [case[1:] for case in CASES],
    ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)],
)
def test_the_expected_card_for_the_expected_reason(
    need: Need | None, devices: list[Device], rules: Policy, expected: str, code: str
) -> None:
    decision = decide(need, Offer(devices=tuple(devices)), rules, Choice())
    assert (decision.device_ids, decision.reason.code) == ((expected,) if expected else (), code)


def joined(*pairs: tuple[int, int]) -> tuple[DeviceLink, ...]:
    links = [
        DeviceLink(devices=(f"a100-{a}", f"a100-{b}"), joint="nvlink" if (a, b) in pairs else "system")
        for a in range(4)
        for b in range(a + 1, 4)
    ]
    return tuple(links)


FOUR = tuple(card("a100", number) for number in range(4))


@pytest.mark.parametrize(
    ("devices", "links", "wanted", "expected"),
    [
        (FOUR, joined((1, 3)), 2, {"a100-1", "a100-3"}),
        (FOUR, joined((0, 1), (2, 3)), 2, {"a100-0", "a100-1"}),
        ((card("a100", used=60), *FOUR[1:]), joined((0, 1), (2, 3)), 2, {"a100-2", "a100-3"}),
        (FOUR, joined((0, 1), (0, 2), (1, 2)), 3, {"a100-0", "a100-1", "a100-2"}),
        (FOUR, (), 2, {"a100-0", "a100-1"}),
        (FOUR, joined((1, 3)), 1, {"a100-0"}),
    ],
)
def test_several_cards_are_those_that_are_joined_best(
    devices: tuple[Device, ...], links: tuple[DeviceLink, ...], wanted: int, expected: set[str]
) -> None:
    offer = Offer(devices=devices, links=links)
    assert set(decide(NEED, offer, policy(prefer="score"), Choice(gpus=wanted)).device_ids) == expected
    flat = policy(prefer="score", weights=Weights(topology=0))
    assert len(decide(NEED, offer, flat, Choice(gpus=wanted)).device_ids) == wanted


def test_the_table_has_every_device_with_its_reason() -> None:
    devices = (
        card("a100"),
        card("t4", 1),
        card("h100", 2),
        card("v100", 3, problem=BROKEN),
        card("h20", 4),
        card("p800", 5, used=90),
        card("3090", 6, simulated=True),
    )
    rules = policy(prices=PRICES, price_ceiling=3, excluded=("4",))
    decision = decide(NEED, Offer(devices=devices, taken={"t4-1": "j1"}), rules, Choice())
    rows = table(NEED, devices, rules, decision, offer=Offer(taken={"t4-1": "j1"}))
    told = {row.device_id: (row.state, row.ruled_out.code if row.ruled_out else None) for row in rows}
    assert told == {
        "a100-0": ("chosen", None),
        "t4-1": ("ruled_out", "claimed"),
        "h100-2": ("ruled_out", "too_dear"),
        "v100-3": ("ruled_out", "card_broken"),
        "h20-4": ("ruled_out", "excluded"),
        "p800-5": ("ruled_out", "full"),
        "3090-6": ("ruled_out", "simulated"),
    }
    chosen = rows[0]
    assert (chosen.device_id, chosen.price) == ("a100-0", 2.0)
    assert {aim.name for aim in chosen.aims} == {"cost", "time", "balance"}
    held = table(NEED, devices, rules, decision, offer=Offer(held={"t4-1": DeviceHolder(job="j", owner="eve")}))
    assert next(row for row in held if row.device_id == "t4-1").ruled_out.render() == "j of eve has it now."  # type: ignore[union-attr]


def test_a_card_that_is_too_small_for_the_upper_end_is_not_said_to_be_full() -> None:
    need, devices = Need(low=8 * GIB, high=15 * GIB), (card("t4"), card("t4", 1, used=6), card("what", 2, used=30))
    rules = policy(prefer="score")
    rows = table(need, devices, rules, decide(need, Offer(devices=devices), rules, Choice()), offer=Offer())
    told = {row.device_id: row.ruled_out for row in rows}
    assert told["t4-0"] is not None and told["t4-0"] == told["t4-1"]
    assert told["t4-0"].render() == "The training may not fit, even on the empty card: that offers 12.8 GiB."
    assert told["what-2"] is not None and told["what-2"].code == "full"
    tried = msgspec.structs.replace(rules, plan_for="low")
    rows = table(need, devices, tried, decide(need, Offer(devices=devices), tried, Choice()), offer=Offer())
    assert next(row.state for row in rows if row.device_id == "t4-0") in ("chosen", "possible")


@pytest.mark.parametrize("prefer", ["most_free", "least_free", "fastest", "score"])
def test_a_score_is_told_where_it_decides_and_nowhere_else(prefer: Any) -> None:
    devices, rules = (card("a100"), card("3090", 1)), policy(prefer=prefer)
    decision = decide(NEED, Offer(devices=devices), rules, Choice())
    rows = table(NEED, devices, rules, decision, offer=Offer())
    assert rows[0].device_id == decision.device_ids[0]
    assert [row.score is not None for row in rows] == [bool(row.aims) for row in rows] == 2 * [prefer == "score"]
    assert all(row.seconds_per_step for row in rows), "what a step takes is told in any case"


KINDS = st.sampled_from(sorted(NAMES))
DEVICES = st.lists(
    st.tuples(KINDS, st.integers(0, 90), st.booleans(), st.integers(30, 95)), min_size=1, max_size=6
).map(
    lambda rows: tuple(
        card(kind, n, used=min(used, NAMES[kind][1]), temperature=heat, problem=BROKEN if broken else None)
        for n, (kind, used, broken, heat) in enumerate(rows)
    )
)
NEEDS = st.integers(1, 100).flatmap(
    lambda high: st.integers(1, high).map(lambda low: Need(low=low * GIB, high=high * GIB, flops=10**13))
)
POLICIES = st.builds(
    Policy,
    memory_threshold=st.sampled_from([0.5, 0.85, 0.9, 1.0]),
    plan_for=st.sampled_from(["low", "high"]),
    prefer=st.sampled_from(["most_free", "score"]),
    preferred_devices=st.sampled_from([(), ("T4", "A100 SXM 80GB")]),
    home_grown_first=st.booleans(),
    heat_ceiling=st.sampled_from([None, 70.0]),
    prices=st.sampled_from([{}, PRICES]),
    price_ceiling=st.sampled_from([None, 1.0]),
)


@given(NEEDS, DEVICES, POLICIES, st.sets(st.integers(0, 5)))
def test_never_over_the_threshold_never_claimed_or_broken_and_always_the_same(
    need: Need, devices: tuple[Device, ...], rules: Policy, claimed: set[int]
) -> None:
    taken = {device.id: "j" for device in devices if device.index in claimed}
    offer = Offer(devices=devices, taken=taken)
    decision = decide(need, offer, rules, Choice())
    assert decide(need, offer, rules, Choice()) == decision
    if decision.outcome != "run":
        return
    planned = need.low if rules.plan_for == "low" else need.high
    for device in devices:
        if device.id in decision.device_ids:
            assert device.id not in taken
            assert device.problem is None
            assert (device.memory_used or 0) + planned <= rules.allowed(device.memory_total or 0)
            assert rules.heat_ceiling is None or (device.temperature or 0) <= rules.heat_ceiling


@given(NEEDS, DEVICES, POLICIES)
def test_a_stricter_policy_never_allows_more(need: Need, devices: tuple[Device, ...], rules: Policy) -> None:
    stricter = msgspec.structs.replace(
        rules, memory_threshold=rules.memory_threshold / 2, heat_ceiling=60.0, price_ceiling=0.25, plan_for="high"
    )
    offer = Offer(devices=devices)
    if decide(need, offer, stricter, Choice()).outcome == "run":
        assert decide(need, offer, rules, Choice()).outcome == "run"


@given(NEEDS, DEVICES, POLICIES, st.integers(0, 5), st.integers(1, 64))
def test_more_free_memory_never_makes_a_device_worse(
    need: Need, devices: tuple[Device, ...], rules: Policy, which: int, more: int
) -> None:
    which %= len(devices)
    device = devices[which]
    freed = max(0, (device.memory_used or 0) - more * GIB)
    better = msgspec.structs.replace(device, memory_used=freed, memory_free=(device.memory_total or 0) - freed)
    changed = (*devices[:which], better, *devices[which + 1 :])

    def place(known: tuple[Device, ...]) -> int:
        scored = scores(need, known, rules)
        return sum(scored[other.id] > scored[device.id] for other in known)

    assert place(changed) <= place(devices)
