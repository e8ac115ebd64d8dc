"""Who may start: in order, one thing to one job, and what the others wait for."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.policy import Policy


def job(name: str, gpus: int = 0, ids: tuple[str, ...] = (), engine: str = "docker", **fields: Any) -> Job:
    resources = Resources(gpus=gpus or len(ids), device_ids=ids, gpu_memory_bytes=fields.pop("need", None))
    spec = JobSpec(name=name, notebook="/n", output="/o", folder="/", engine=engine, resources=resources)
    return Job(id=name, spec=spec, state="queued", created=1.0, updated=1.0, **fields)


def gpu(number: int, free: int | None = 100, **fields: Any) -> Device:
    return Device(id=f"g{number}", index=number, vendor="nvidia", name="A100", memory_free=free, **fields)


def plan(
    queued: list[Job],
    *,
    active: tuple[Job, ...] = (),
    claims: dict[str, str] | None = None,
    held: dict[str, DeviceHolder] | None = None,
    devices: list[Device] | None = None,
    settings: JobSettings | None = None,
    policy: Policy | None = None,
    trouble: Message | None = None,
    own: dict[str, Supply] | None = None,
    known: queue.Known = queue.Known(),  # noqa: B008  # a value
) -> dict[str, queue.Turn]:
    found = queue.turns(
        queued,
        active,
        claims=claims or {},
        supply=lambda engine: (
            (own or {}).get(engine)
            or Supply(
                devices=None if devices is None else tuple(devices),
                trouble=trouble,
                slots=(settings or JobSettings()).slots(engine),
            )
        ),
        held=held,
        settings=settings or JobSettings(),
        now=100.0,
        policy=policy,
        known=known,
    )
    return {turn.job.id: turn for turn in found}


def started(turns: dict[str, queue.Turn]) -> dict[str, tuple[str, ...]]:
    return {name: turn.device_ids for name, turn in turns.items() if turn.start}


def test_cpu_jobs_one_after_the_other_per_engine() -> None:
    turns = plan([job("a", engine="local"), job("b", engine="local"), job("c", engine="docker")])
    assert started(turns) == {"a": (), "c": ()}
    assert turns["b"].reason and turns["b"].reason.code == "waits_slot"
    turns = plan([job("b", engine="local")], active=(job("a", engine="local"),))
    assert started(turns) == {}
    turns = plan([job("a", engine="local"), job("b", engine="local")], settings=JobSettings(cpu_slots={"local": 2}))
    assert started(turns) == {"a": (), "b": ()}


def test_gpu_jobs_take_no_cpu_slot() -> None:
    turns = plan([job("a", ids=("g0",)), job("b")], devices=[gpu(0)])
    assert started(turns) == {"a": ("g0",), "b": ()}


def test_devices_of_other_users_are_waited_for_and_their_users_named() -> None:
    held = {"g0": DeviceHolder(job="theirs", owner="alice")}
    turns = plan([job("a", 1), job("b", ids=("g0",)), job("c", 1)], devices=[gpu(0), gpu(1)], held=held)
    assert started(turns) == {"a": ("g1",)}
    named, free = turns["b"].reason, turns["c"].reason
    assert named and (named.code, named.params["owner"]) == (reasons.DEVICE_HELD, "alice")
    assert free and (free.code, free.params["owners"]) == ("waits_free_device", "alice")
    # One's own claim is not another's: a job that goes on after a crash is not kept from its card.
    assert started(plan([job("b", ids=("g0",))], claims={"g0": "b"}, held=held)) == {"b": ("g0",)}


def test_ones_own_jobs_are_named_beside_others_and_by_their_notebooks() -> None:
    held = {"g0": DeviceHolder(job="theirs", owner="alice")}
    turns = plan([job("a", 1), job("b", 1), job("c", 1)], devices=[gpu(0), gpu(1)], held=held)
    free, behind = turns["b"].reason, turns["c"].reason
    assert free and free.render() == "No device with enough memory is free: jobs of yours and of alice have them all."
    assert behind and behind.render() == "Waits behind job “b”, which waits for a device."
    alone = plan([job("a", 2), job("b", 1)], devices=[gpu(0), gpu(1)])["b"].reason
    assert alone and alone.render() == "No device with enough memory is free: jobs of yours have them all."
    spec = msgspec.structs.replace(job("x", 1).spec, name="", engine=queue.ANOTHERS)
    theirs = msgspec.structs.replace(job("x", 1), spec=spec, owner="alice")
    behind = plan(
        [job("a", 1), theirs, job("b", 1)], devices=[gpu(0)], own={queue.ANOTHERS: Supply(devices=(gpu(0),))}
    )["b"].reason
    assert behind and behind.render() == "Waits behind job x of alice, which waits for a device."


def test_of_many_that_wait_the_first_are_planned_and_the_others_start_on_what_they_leave() -> None:
    many = [job(f"w{at}", 1, need=50) for at in range(queue.MOST_PLANNED + 5)]
    known = queue.Known({"x": 1000.0, **{one.id: 60.0 for one in many}})
    runs = msgspec.structs.replace(job("x", ids=("g0",)), state="running", started=0.0)
    small = job("small", 1, need=5)
    turns = plan([*many, small], active=(runs,), claims={"g0": "x"}, devices=[gpu(0), gpu(1, 10)], known=known)
    foretold = [turns[one.id].starts is not None for one in many]
    assert foretold == [True] * queue.MOST_PLANNED + [False] * 5
    assert [turns[one.id].place for one in many[-5:]] == [queue.MOST_PLANNED + more for more in range(1, 6)]
    told = [(turns[one.id].reason or queue.HELD).hint for one in many]
    assert [hint == reasons.TOO_FAR.text for hint in told] == [False] * queue.MOST_PLANNED + [True] * 5
    assert started(turns) == {"small": ("g1",)}, "it delays nobody"


def test_most_free_memory_first() -> None:
    turns = plan([job("a", 1), job("b", 2)], devices=[gpu(0, 10), gpu(1, 90), gpu(2, 50), gpu(3, None)])
    assert started(turns) == {"a": ("g1",), "b": ("g2", "g0")}


def test_claimed_small_and_simulated_devices_are_not_given() -> None:
    devices = [gpu(0, 100), gpu(1, 10), gpu(2, 100, simulated=True), gpu(3, 100)]
    turns = plan([job("a", 1, need=50), job("b", 1, need=50)], claims={"g0": "x"}, devices=devices)
    assert started(turns) == {"a": ("g3",)}
    assert turns["b"].reason and turns["b"].reason.code == "waits_free_device"


def test_nobody_is_overtaken_for_the_same_device() -> None:
    turns = plan([job("a", ids=("g0", "g1")), job("b", ids=("g1",)), job("c", ids=("g2",))], claims={"g0": "x"})
    assert started(turns) == {"c": ("g2",)}
    assert turns["b"].reason and turns["b"].reason.params["job"] == "“a”"


def test_nobody_overtakes_one_who_waits_for_any_device() -> None:
    turns = plan([job("a", 2), job("b", 1)], claims={"g0": "x"}, devices=[gpu(0), gpu(1)])
    assert started(turns) == {}
    assert turns["b"].reason and turns["b"].reason.code == "waits_job"


def test_more_than_there_is_can_never_start() -> None:
    assert plan([job("a", 3)], devices=[gpu(0), gpu(1)])["a"].hopeless
    assert plan([job("a", 1)], devices=None)["a"].hopeless


def test_waiting_for_another_attempt_holds_nobody_up() -> None:
    turns = plan([job("a", not_before=105.0, attempts=1), job("b")])
    assert started(turns) == {"b": ()}
    assert turns["a"].reason is None, "the fault it waits after stays in the row"


def test_a_clock_that_was_set_back_does_not_put_a_job_off_for_hours() -> None:
    """The wait was 5 s at most; 3 h of it can only be the clock's doing."""
    turns = plan([job("a", not_before=100.0 + 3 * 3600, attempts=1)])
    assert started(turns) == {"a": ()}


def test_the_policy_holds_for_waiting_jobs() -> None:
    devices = [gpu(0, 90, memory_total=100), gpu(1, 80, memory_total=100), gpu(2, 70, memory_total=100)]
    assert started(plan([job("a", 1)], devices=devices)) == {"a": ("g0",)}
    assert started(plan([job("a", 1)], devices=devices, policy=Policy(excluded=("0",)))) == {"a": ("g1",)}
    assert started(plan([job("a", 1)], devices=devices, policy=Policy(prefer="least_free"))) == {"a": ("g2",)}
    turns = plan([job("a", 3)], devices=devices, policy=Policy(excluded=("g1",)))
    assert turns["a"].hopeless and turns["a"].reason and turns["a"].reason.params["there"] == 2
    chosen = plan([job("a", ids=("g1",))], devices=devices, policy=Policy(excluded=("g1",)))
    assert started(chosen) == {"a": ("g1",)}, "the person's own choice stands above what is never chosen by itself"


def test_memory_is_planned_for_up_to_the_threshold_only() -> None:
    """85 of 100 are free, but 85 % of the card may be in use and 15 are: 70 can be had."""
    devices = [gpu(0, 85, memory_total=100)]
    assert started(plan([job("a", 1, need=70)], devices=devices)) == {"a": ("g0",)}
    turns = plan([job("a", 1, need=71)], devices=devices)
    assert turns["a"].reason and turns["a"].reason.code == "chosen_later"
    assert started(plan([job("a", 1, need=76)], devices=devices, policy=Policy(memory_threshold=1.0)))


def test_what_no_device_can_ever_hold_does_not_wait_for_ever() -> None:
    turns = plan([job("a", 1, need=91)], devices=[gpu(0, 85, memory_total=100), gpu(1, 85, memory_total=50)])
    assert turns["a"].hopeless
    assert turns["a"].reason and turns["a"].reason.code == "fits_nowhere"
    silent = [gpu(0, 85, memory_total=100), gpu(1, None)]
    assert started(plan([job("a", 1, need=91)], devices=silent)) == {"a": ("g1",)}, "one that does not tell may have it"


def test_a_driver_that_does_not_answer_fails_no_job() -> None:
    silent = Message(code="driver_no_answer", text="The driver does not answer.", hint="Wait.")
    turns = plan([job("a", 1), job("b", 2, need=10**6)], devices=[], trouble=silent)
    assert [(turn.start, turn.hopeless, turn.reason) for turn in turns.values()] == [(False, False, silent)] * 2
    broken = Message(code="card_broken", text="Card 1 fell off the bus.")
    devices = [gpu(0), gpu(1, None, problem=broken)]
    assert started(plan([job("a", 1)], devices=devices)) == {"a": ("g0",)}
    turns = plan([job("a", 2)], devices=devices)
    assert not turns["a"].hopeless and turns["a"].reason == broken
    assert plan([job("a", 3)], devices=[gpu(0), gpu(1)])["a"].hopeless, "more than there ever was"


def test_a_divided_card_is_not_given_as_a_whole() -> None:
    devices = [gpu(0, 100), gpu(1, 40, parent="g0"), gpu(2, 30, parent="g0")]
    turns = plan([job("a", 1), job("b", 2)], devices=devices)
    assert started(turns) == {"a": ("g1",)}
    assert turns["b"].hopeless, "one process gets one slice at most"


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 3), max_size=3)), max_size=12),
    st.sets(st.integers(0, 3), max_size=4),
)
def test_a_device_is_never_given_twice(wishes: list[tuple[int, set[int]]], claimed: set[int]) -> None:
    queued = [
        job(f"j{number}", gpus, tuple(f"g{one}" for one in sorted(ids))) for number, (gpus, ids) in enumerate(wishes)
    ]
    devices = [gpu(number) for number in range(4)]
    given_out = [f"g{number}" for number in claimed]
    for ids in started(plan(queued, claims=dict.fromkeys(given_out, "other"), devices=devices)).values():
        given_out += ids
    assert len(given_out) == len(set(given_out))


def test_one_job_tries_an_engine_that_is_away_and_the_others_keep_their_order() -> None:
    away = reasons.engine_away(reasons.engine_unreachable("docker"))
    head, local = job("a", 1, reason=away, not_before=105.0), job("l", 1, engine="local")
    cards = [gpu(0), gpu(1), gpu(2)]
    waiting = plan([head, job("b", 1), local], devices=cards)
    assert started(waiting) == {"l": ("g0",)}, "another engine's jobs go on"
    assert waiting["a"].reason is None, "what it waits for stays readable"
    assert waiting["b"].reason and waiting["b"].reason.code == "waits_engine"
    again = msgspec.structs.replace(head, not_before=95.0)
    assert started(plan([again, job("b", 1)], devices=cards)) == {"a": ("g0",)}, "its turn to try"
    trying = msgspec.structs.replace(again, state="preparing")
    assert started(plan([job("b", 1)], active=(trying,), devices=cards)) == {}
    back = msgspec.structs.replace(trying, state="running", reason=None)
    assert started(plan([job("b", 1), job("c", 1)], active=(back,), claims={"g0": "a"}, devices=cards)) == {
        "b": ("g1",),
        "c": ("g2",),
    }


def test_a_device_is_waited_for_in_order_whichever_engine_wants_it() -> None:
    """Claims are of the machine's devices: a job here and one in a container cannot both have one."""
    mixed = [
        job("a", ids=("g0",), engine="docker"),
        job("b", ids=("g0",), engine="local"),
        job("c", 1, engine="docker"),
    ]
    turns = plan([*mixed, job("d", 1, engine="local")], devices=[gpu(0, 100), gpu(1, 50)])
    assert started(turns) == {"a": ("g0",), "c": ("g1",)}
    assert {name: turns[name].reason.code for name in "bd" if turns[name].reason} == {  # type: ignore[union-attr]
        "b": "waits_device",
        "d": "waits_free_device",
    }
    after = plan([*mixed[1:], job("d", 1, engine="local")], claims={"g1": "x"}, devices=[gpu(0, 100), gpu(1, 50)])
    assert started(after) == {"b": ("g0",)}, "the one that came first has it, and not the container's job"


def test_each_pool_of_devices_has_a_queue_of_its_own() -> None:
    """Who waits for a card of this machine keeps nobody from a cluster's cards."""
    far = Supply(pool="far", devices=(msgspec.structs.replace(gpu(0), id="far/0"),))
    queued = [job("a", 1), job("b", 1), job("c", 1, engine="far"), job("d", 1, engine="far"), job("e", 1)]
    turns = plan(queued, devices=[gpu(0)], own={"far": far})
    assert started(turns) == {"a": ("g0",), "c": ("far/0",)}
    assert turns["d"].reason and turns["d"].reason.params["job"] == "“c”"
    assert turns["e"].reason and turns["e"].reason.params["job"] == "“b”"


def test_an_engine_with_a_queue_of_its_own_gets_every_job_it_could_serve() -> None:
    far = Supply(pool="far", devices=(gpu(0),), assigned=True, slots=None)
    queued = [job("a", 1, engine="far"), job("b", 1, engine="far"), job("c", 2, engine="far"), job("d", engine="far")]
    turns = plan(queued, devices=[], own={"far": far}, active=(job("e", engine="far"),))
    assert started(turns) == {"a": (), "b": (), "d": ()}
    assert turns["c"].hopeless
