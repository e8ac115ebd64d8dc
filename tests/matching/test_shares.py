"""A card as memory: shares never come to more than there is, and nobody else has a card that is somebody's alone."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.decision import lines
from jupyter_paddle_gpu.domain.decisions import Choice, Need
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, DeviceProcess
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.match import match
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.shares import share_on, wanted_share

from .test_match import inventory

GIB = 1 << 30
POLICY = Policy()


def card(index: int = 0, total: int = 20 * GIB, used: int = 0, **fields: object) -> Device:
    return Device(  # type: ignore[arg-type]
        id=f"GPU-{index}", index=index, vendor=str(fields.pop("vendor", "nvidia")), name="Stand-in",
        memory_total=total, memory_used=used, memory_free=total - used, **fields,
    )  # fmt: skip


def has(size: int, job: str = "j", owner: str = "ben") -> DeviceHolder:
    return DeviceHolder(job=job, owner=owner, bytes=size)


def need(gib: float) -> Need:
    return Need(low=int(gib * GIB), high=int(gib * GIB))


def test_two_halves_fit_and_a_third_waits() -> None:
    half, device = Choice(gpus=1, share=0.5), card()
    first = decide(need(4), Offer(devices=(device,)), POLICY, half)
    assert (first.outcome, first.device_ids) == ("run", ("GPU-0",))
    (part,) = first.shares
    assert (part.bytes, part.most, part.total) == (int(8.5 * GIB), 17 * GIB, 20 * GIB), "of what may be planned for"
    assert [note.code for note in first.notes] == ["has_share"]
    shared = {"GPU-0": (has(part.bytes),)}
    assert decide(need(4), Offer(devices=(device,), shared=shared), POLICY, half).outcome == "run"
    shared = {"GPU-0": (has(part.bytes, "a"), has(part.bytes, "b"))}
    third = decide(need(4), Offer(devices=(device,), shared=shared), POLICY, half)
    assert (third.outcome, third.reason.code) == ("wait", "chosen_later")


def test_whole_and_shared_exclude_each_other() -> None:
    offer = Offer(devices=(card(),), shared={"GPU-0": (has(GIB),)})
    whole = decide(need(1), offer, POLICY, Choice(gpus=1))
    assert (whole.outcome, whole.reason.params["owner"]) == ("wait", "ben")
    offer = Offer(devices=(card(),), held={"GPU-0": DeviceHolder(job="j", owner="ben")})
    assert decide(need(1), offer, POLICY, Choice(gpus=1, share=0.1)).outcome == "wait"


def test_what_a_job_uses_of_its_share_is_not_counted_twice() -> None:
    eight = DeviceProcess(pid=1, memory_bytes=8 * GIB, job_id="j")
    device = card(used=8 * GIB, processes=(eight,))
    shared = {"GPU-0": (has(9 * GIB),)}
    assert (
        decide(None, Offer(devices=(device,), shared=shared), POLICY, Choice(gpus=1, share=8.0 * GIB)).outcome == "run"
    )
    unknown = card(used=8 * GIB, processes=(DeviceProcess(pid=1, memory_bytes=8 * GIB),))
    asked = Choice(gpus=1, share=8.0 * GIB)
    assert decide(None, Offer(devices=(unknown,), shared=shared), POLICY, asked).outcome == "wait", "whose is it?"


def test_what_is_too_large_for_any_share_was_not_asked_for_as_one() -> None:
    policy, devices = Policy(default_share="estimate"), (card(), card(1, 40 * GIB))
    assert wanted_share(None, need(9), devices, policy) == 9.0 * GIB
    assert wanted_share(None, need(30), devices, policy) == 30.0 * GIB
    assert wanted_share(None, need(39), devices, policy) is None, "whole devices are judged, with their ways out"
    assert wanted_share(39.0 * GIB, need(39), devices, policy) == 39.0 * GIB, "it was asked for"


def test_a_share_that_can_never_do_is_refused() -> None:
    offer = Offer(devices=(card(),))
    small = decide(need(9), offer, POLICY, Choice(gpus=1, share=0.5))
    assert (small.outcome, small.reason.code) == ("refuse", "share_too_small")
    large = decide(need(9), offer, POLICY, Choice(gpus=1, share=18.0 * GIB))
    assert (large.outcome, large.reason.code) == ("refuse", "share_too_large")
    offer = Offer(devices=(card(vendor="ascend"),))
    nobody = decide(need(1), offer, POLICY, Choice(gpus=1, share=0.5))
    assert (nobody.outcome, nobody.reason.code) == ("refuse", "no_shares"), "nothing would keep it to its share"


def test_which_card_to_wait_for_and_until_when_is_a_way_out() -> None:
    held = {"GPU-0": DeviceHolder(job="a", owner="ben"), "GPU-1": DeviceHolder(job="b", owner="eve")}
    offer = Offer(devices=(card(0), card(1)), held=held, left={"a": 900.0, "b": 600.0})
    decision = decide(need(4), offer, POLICY, Choice(gpus=1))
    first, cpu = decision.ways
    assert (first.device_ids, first.label.render()) == (("GPU-1",), "Wait for GPU 1 (about 10 min)")
    assert cpu.gpus == 0
    assert [option for _, option in lines(decision, Speech("en")) if option] == ["--device-id GPU-1", "--gpus 0"]
    behind = msgspec.structs.replace(offer, kept={"GPU-1": "c"}, after={"GPU-1": 1500.0})
    assert decide(need(4), behind, POLICY, Choice(gpus=1)).ways[0].label.render() == "Wait for GPU 0 (about 15 min)"
    behind = msgspec.structs.replace(behind, kept={"GPU-0": "d", "GPU-1": "c"})
    first, second = decide(need(4), behind, POLICY, Choice(gpus=1)).notes
    assert "GPU 1 (Stand-in) is thought to be free first, in about 25 min, when those who wait" in first.render()
    assert second.render() == "Job a has GPU 0 (Stand-in) for about 15 min more."
    named = decide(need(4), offer, POLICY, Choice(device_ids=("GPU-1",)))
    assert [way.device_ids for way in named.ways] == [()], "it is waited for already"


def test_the_policy_gives_what_the_estimate_says() -> None:
    policy = Policy(default_share="estimate")
    assert wanted_share(None, need(4), [card()], policy) == 4 * GIB
    assert wanted_share(1.0, need(4), [card()], policy) == 1.0, "who wants all of it says so"
    assert wanted_share(None, None, [card()], policy) is None, "nobody knows what it needs"
    assert wanted_share(None, need(4), [card(vendor="ascend")], policy) is None
    assert wanted_share(None, need(4), [card()], Policy()) is None
    assert wanted_share(None, need(4), [card()], Policy(default_share="estimate", sharing="exclusive")) is None


def test_every_face_says_what_is_left_beside_shares() -> None:
    offer = Offer(shared={"GPU-0": (has(12 * GIB),)})
    whole = match(None, inventory(card()), offer=offer, choice=Choice(gpus=1))
    assert [(row.state, row.ruled_out and row.ruled_out.code) for row in whole.table] == [("ruled_out", "held")]
    part = match(None, inventory(card()), offer=offer, choice=Choice(gpus=1, share=0.5))
    assert [(row.state, row.ruled_out and row.ruled_out.code) for row in part.table] == [("ruled_out", "full")]
    assert part.verdicts[0].free_bytes == 5 * GIB
    part = match(None, inventory(card()), offer=offer, choice=Choice(gpus=1, share=0.25))
    assert [row.state for row in part.table] == ["chosen"]


@given(
    st.lists(st.integers(1, 24), min_size=1, max_size=3),
    st.lists(st.one_of(st.none(), st.floats(0.05, 1.0, exclude_max=True), st.integers(2, 20)), max_size=12),
    st.sampled_from([0.5, 0.85, 1.0]),
)
def test_never_over_the_card_and_never_two_who_want_it_alone(sizes, asked, threshold) -> None:
    policy = Policy(memory_threshold=threshold)
    devices = tuple(card(index, size * GIB) for index, size in enumerate(sizes))
    shared: dict[str, tuple[DeviceHolder, ...]] = {}
    taken: dict[str, str] = {}
    for number, one in enumerate(asked):
        share = one * float(GIB) if isinstance(one, int) else one
        offer, choice = Offer(devices=devices, taken=taken, shared=shared), Choice(gpus=1, share=share)
        found = decide(None, offer, policy, choice)
        assert found == decide(None, offer, policy, choice), "the same asked twice"
        if found.outcome != "run":
            continue
        (device,) = found.device_ids
        if share is None:
            assert device not in shared
            assert device not in taken
            taken[device] = f"j{number}"
            continue
        assert device not in taken
        shared[device] = (*shared.get(device, ()), has(found.shares[0].bytes, f"j{number}"))
    for device in devices:
        allowed = policy.allowed(device.memory_total or 0)
        assert sum(one.bytes or 0 for one in shared.get(device.id, ())) <= allowed
        if (part := share_on(device, 0.5, policy)) is not None:
            assert part.most == allowed


def test_who_shares_a_card_computes_by_turns_so_a_slower_free_card_may_be_better() -> None:
    need = Need(low=2 << 30, high=2 << 30, flops=10**13, bytes_moved=10**9)
    total = 32 << 30
    fast, slow = (
        Device(id=f"g{at}", index=at, vendor="nvidia", name=name, memory_total=total, memory_used=0, memory_free=total)
        for at, name in enumerate(("Tesla V100-SXM2-32GB", "Tesla T4"))
    )
    policy = Policy(prefer="score")
    alone = Offer(devices=(fast, slow))
    assert decide(need, alone, policy, Choice(gpus=1, share=0.2)).device_ids == ("g0",)
    others = tuple(DeviceHolder(job=f"o{at}", owner="ben", bytes=4 << 30) for at in range(4))
    full = msgspec.structs.replace(alone, shared={"g0": others})
    assert decide(need, full, policy, Choice(gpus=1, share=0.2)).device_ids == ("g1",)
