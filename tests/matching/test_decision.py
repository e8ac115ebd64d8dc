"""One decision: what is said of a step that fits nowhere, waits or runs, and the ways out that stand beside it."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.domain.decisions import Choice, Need, need_of
from jupyter_paddle_gpu.domain.devices import Device, Inventory
from jupyter_paddle_gpu.domain.estimates import Estimate, Fit, Remedy
from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.decision import decide
from jupyter_paddle_gpu.matching.match import match
from jupyter_paddle_gpu.matching.offer import Kept, Offer
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.ways import ways_now, ways_out
from tests.matching.situations import GIB, HOST, SMALL, spec_of


def card(index: int, total: int, used: int = 0) -> Device:
    sizes = {"memory_total": total * GIB, "memory_used": used * GIB, "memory_free": (total - used) * GIB}
    return Device(id=f"GPU-{index}", index=index, vendor="nvidia", name="Card", **sizes)


def test_a_card_that_nobody_has_checked_on_hardware_is_marked_in_the_sentence() -> None:
    cards = tuple(msgspec.structs.replace(card(index, 64), checked=index == 0) for index in (0, 1))
    small = Need(low=GIB, high=2 * GIB)
    said = [decide(small, Offer(devices=(one,)), Policy(), Choice()).reason for one in cards]
    assert said[0].render() == "GPU 0 (Card) has room for it."
    assert said[1].render() == "GPU 1 (Card, not checked on hardware) has room for it."


QUIET = Kept(Message(code="waits_quiet", text="Waits."), hopeless=False)
BEYOND = Kept(Message(code="quota_exceeded", text="Too many."), hopeless=True)


@pytest.mark.parametrize("kept", [QUIET, BEYOND])
def test_no_rule_makes_wait_for_what_could_never_be(kept: Kept) -> None:
    large, small = Need(low=30 * GIB, high=30 * GIB), Need(low=GIB, high=2 * GIB)
    for need, choice, code in (
        (large, Choice(), "fits_nowhere"),
        (small, Choice(gpus=2), "too_few_devices"),
        (small, Choice(), kept.reason.code),
        (large, Choice(anyway=True), kept.reason.code),
    ):
        found = decide(need, Offer(devices=(card(0, 24),), rules=lambda _: kept), Policy(), choice)
        assert found.reason.code == code
        assert found.outcome == ("refuse" if kept.hopeless or code != kept.reason.code else "wait")


LIMIT = int(24 * GIB * 0.85)
TOO_LARGE = Estimate(status="ok", evidence="trace", batch_size=512, peak_bytes=46 * GIB, low=44 * GIB, high=47 * GIB)


CANNOT = Message(code="cannot", text="The cells do not allow it.")


def remedy(change: str, value: object, largest: int | None, refused: Message | None = None, **more: object) -> Remedy:
    says = Message(code=change, text=f"{change} {value}")
    return Remedy(
        change=change,
        says=says,
        request={change: value, **more},  # type: ignore[dict-item]
        peak_bytes=GIB,
        saves_bytes=GIB,
        largest_batch=largest,
        refused=refused,
    )


def test_what_no_job_is_run_with_is_no_way_out() -> None:
    pictures, refused = remedy("image_size", 160, 600), remedy("recompute", True, 600, CANNOT)
    fits = (Fit(device="Card", limit_bytes=LIMIT, largest_batch=252),)
    found = msgspec.structs.replace(TOO_LARGE, fits=fits, remedies=(pictures, refused, remedy("amp", "O1", 410)))
    assert [way.change for way in ways_out(found, LIMIT) or ()] == ["batch_size", "amp"]
    assert [way.change for way in ways_now(found, LIMIT) or ()] == ["amp"]
    fixed = remedy("batch_size", 256, None, CANNOT)
    found = msgspec.structs.replace(
        found, remedies=(fixed, remedy("amp", "O1", 410), remedy("set_to_zero", False, 600))
    )
    assert [way.change for way in ways_out(found, LIMIT) or ()] == ["set_to_zero"], "the batch has to stay as it is"


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
            msgspec.structs.replace(remedy("set_to_zero", False, None), peak_bytes=23 * GIB),
        ),
    )
    here = (card(0, 24), card(1, 8))
    decision = match(found, Inventory(time=0, host=HOST, devices=here)).decision
    assert (decision.outcome, decision.searched) == ("refuse", True)
    assert decision.reason.render() == "Needs 47.0 GiB; the largest card here offers at most 20.4 GiB."
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


def test_a_remedy_that_fits_by_itself_is_a_way_out_before_its_largest_batch_was_sought() -> None:
    """Each trace of a large model takes seconds, and the time for details has an end."""
    accumulated = remedy("accumulation", 4, None, batch_size=512)
    fits = (Fit(device="Card", limit_bytes=LIMIT, largest_batch=252),)
    for peak, ways in ((12 * GIB, ["batch_size", "accumulation"]), (20 * GIB, ["batch_size"])):  # the range adds 1 GiB
        tried = msgspec.structs.replace(accumulated, peak_bytes=peak)
        found = msgspec.structs.replace(TOO_LARGE, fits=fits, remedies=(tried,))
        assert [way.change for way in ways_out(found, LIMIT) or ()] == ways


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice(device_ids=("GPU-1",)), "Needs 47.0 GiB; GPU 1 (Card) offers at most 6.80 GiB."),
        (Choice(gpus=2), "Needs 47.0 GiB on each of 2 cards; the 2 largest here offer at most 6.80 GiB each."),
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


def behind(queued: list[Job], active: list[Job], here: tuple[Device, ...]) -> Offer:
    """The offer to a job that comes behind these."""
    claims = {device: job.id for job in active for device in job.device_ids}
    found = queue.standing(
        queued,
        active,
        "local",
        claims=claims,
        supply=lambda _: Supply(devices=here),
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
    assert decision.reason.render() == "Waits for GPU 0 (Card), which job first has for about 16 min more."
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


def test_a_device_that_is_gone_is_waited_for() -> None:
    need = need_of(TOO_LARGE)
    named = Choice(gpus=1, device_ids=("GPU-7",))
    decision = decide(need, Offer(devices=(card(0, 80),)), Policy(), named)
    assert (decision.outcome, decision.reason.code) == ("wait", "device_gone")
    unseen = decide(need, Offer(judged=True), Policy(), named)
    assert (unseen.outcome, unseen.device_ids) == ("run", ("GPU-7",)), "where none is known a daemon judges"
    none = decide(need, Offer(), Policy(), named)
    assert (none.outcome, none.reason.code, none.ways[0].gpus) == ("refuse", "no_device_to_name", 0)
    insisted = decide(need, Offer(), Policy(), msgspec.structs.replace(named, anyway=True))
    assert (insisted.outcome, insisted.reason.code) == ("wait", "device_gone")
