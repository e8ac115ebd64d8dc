"""Jobs start in the order in which the queue let them go, and nobody waits for one that hangs, pulls or ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.base import ALONE, NO_METADATA, Handle, JobFolder, Place, Say
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.scheduling import order
from jupyter_paddle_gpu.jobs.scheduling.order import StartOrder, StartPlace
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

FOREVER = 3600.0
LIMIT = 180.0
"""Seconds after which a test gives up waiting."""


class Clock:
    """Stands in for the order's clock: no time passes but what a test lets pass, however slow the machine is."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(order, "time", made)
    return made


class Starts:
    """Threads that start when their turn has come, and the order in which they did."""

    def __init__(self, patience: float = FOREVER) -> None:
        self.order, self.begun = StartOrder(patience), list[str]()
        self.unwanted, self.refused = set[str](), list[str]()
        self._threads: list[threading.Thread] = []

    def join(self, name: str, engine: str = "docker") -> StartPlace:
        return self.order.join(engine, lambda: name not in self.unwanted)

    def ready(self, name: str, place: StartPlace, hold: threading.Event | None = None) -> threading.Thread:
        """It is prepared, waits for its turn and starts, which takes until `hold` is set."""

        def work() -> None:
            try:
                with place:
                    place.take_turn()
                    self.begun.append(name)
                    if hold is not None:
                        hold.wait(LIMIT)
            except PaddleGpuError as error:
                self.refused.append(f"{name}: {error.code}")

        self._threads.append(threading.Thread(target=work, daemon=True))
        self._threads[-1].start()
        return self._threads[-1]

    def through(self) -> list[str]:
        for thread in self._threads:
            thread.join(LIMIT)
            assert not thread.is_alive(), "nobody waits forever"
        return self.begun


def test_whoever_is_ready_first_starts_in_the_order_of_the_queue() -> None:
    starts = Starts()
    places = {name: starts.join(name) for name in "abcd"}
    for name in "dcb":
        starts.ready(name, places[name])
    time.sleep(0.2)
    assert starts.begun == [], "the first of them is not ready"
    starts.ready("a", places["a"])
    assert starts.through() == ["a", "b", "c", "d"]


def test_one_starts_at_a_time() -> None:
    starts, hold = Starts(), threading.Event()
    first, second = starts.join("a"), starts.join("b")
    starts.ready("a", first, hold)
    starts.ready("b", second)
    while not starts.begun:
        time.sleep(0.01)
    time.sleep(0.2)  # for whoever would go now
    assert starts.begun == ["a"], "the start of the first is under way"
    hold.set()
    assert starts.through() == ["a", "b"]


def test_nobody_waits_for_one_that_pulls() -> None:
    starts = Starts()
    first, second, third = (starts.join(name) for name in "abc")
    first.step_aside()
    starts.ready("b", second).join(LIMIT)
    assert starts.begun == ["b"]
    starts.ready("a", first).join(LIMIT)  # it comes back before the third is ready, and has its old place again
    starts.ready("c", third)
    assert starts.through() == ["b", "a", "c"]


def test_one_that_comes_back_from_a_pull_goes_before_those_that_wait() -> None:
    starts, hold = Starts(), threading.Event()
    first, second, third = (starts.join(name) for name in "abc")
    first.step_aside()
    starts.ready("b", second, hold)
    starts.ready("c", third)
    while starts.begun != ["b"]:
        time.sleep(0.01)
    back = threading.Event()
    starts.ready("a", first, back)
    while "a" not in starts.begun:
        time.sleep(0.01)
    hold.set()
    time.sleep(0.2)
    assert starts.begun == ["b", "a"]
    back.set()
    assert starts.through() == ["b", "a", "c"]


def test_one_that_fails_or_ends_before_its_turn_is_passed() -> None:
    starts = Starts()
    first, second, third = (starts.join(name) for name in "abc")
    starts.ready("c", third)
    with pytest.raises(ZeroDivisionError), first:
        1 / 0  # noqa: B018  # its preparation failed
    second.leave()
    assert starts.through() == ["c"]


def test_one_that_is_cancelled_while_it_waits_goes_and_holds_up_nobody() -> None:
    starts = Starts()
    first, second, third = (starts.join(name) for name in "abc")
    starts.ready("b", second)
    starts.ready("c", third)
    starts.unwanted.add("b")
    while not starts.refused:
        time.sleep(0.01)
    assert starts.refused == ["b: cancelled"]
    assert starts.begun == []
    first.leave()
    assert starts.through() == ["c"]


def test_one_that_hangs_is_waited_for_once_and_only_so_long(clock: Clock) -> None:
    starts = Starts(patience=0.5)
    first, second, third = (starts.join(name) for name in "abc")
    starts.ready("b", second)
    starts.ready("c", third)
    while not first.aside:  # in steps shorter than the patience: nobody waits in vain for b as well
        assert first.aside or starts.begun == []
        clock.now += 0.3
        time.sleep(0.2)
    assert starts.through() == ["b", "c"]
    starts.ready("d", starts.join("d"))
    assert starts.through()[2:] == ["d"], "nobody else waits for it: no more time has passed"
    first.leave()


def test_patience_begins_anew_with_every_move(clock: Clock, until: Any) -> None:
    """Three starts in a row, together longer than the patience, each of them shorter."""
    starts = Starts(patience=1.0)
    places, holds = {name: starts.join(name) for name in "abcd"}, {name: threading.Event() for name in "abc"}
    for name, place in places.items():
        starts.ready(name, place, holds.get(name))
    for count, hold in enumerate(holds.values(), 1):
        until(lambda count=count: len(starts.begun) == count)
        clock.now += 0.6
        time.sleep(0.3)  # for whoever would go now
        assert len(starts.begun) == count
        hold.set()
    assert starts.through() == ["a", "b", "c", "d"]


def test_an_engine_that_hangs_holds_up_no_other() -> None:
    starts = Starts()
    starts.join("a", "docker")
    starts.ready("b", starts.join("b", "local"))
    assert starts.through() == ["b"]


class Slow(LocalEngine):
    """The first job's preparation takes until somebody lets it go on, as that of a large folder would."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.prepared = threading.Event(), list[str]()
        self.aside, self.refuse = False, False

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        self.prepared.append(job.spec.name)
        if job.spec.name == "j0":
            if self.aside:
                place.step_aside()
            while not self.go.wait(0.02) and not cancelled():
                pass
            if self.refuse:
                raise PaddleGpuError.of(Message(code="image_missing", text="There is none."))
        return super().prepare(job, folder, say, cancelled, place)


def inventory() -> Inventory:
    """Four cards with all their memory free."""
    size = 16 << 30
    cards = tuple(
        Device(id=f"GPU-{n}", index=n, vendor="nvidia", name="x", memory_total=size, memory_used=0, memory_free=size)
        for n in range(4)
    )
    host = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=size, memory_available=size)
    return Inventory(time=time.time(), host=host, devices=cards)


class Queue:
    """Four jobs that get their four cards in one look."""

    def __init__(self, folder: Path, spec: Any, notebook: str, **settings: Any) -> None:
        self.engine = Slow()
        given = {"active_seconds": 0.05, "wait_seconds": 0.05, "order_seconds": FOREVER, **settings}
        self.service = JobService.open(
            {"local": self.engine}, data_folder=folder, settings=JobSettings(**given), inventory=inventory
        )
        self.service._dispatcher = None
        make = lambda n: spec(f"j{n}", resources=Resources(gpus=1))  # noqa: E731
        self.jobs = [self.service.submit(make(n), notebook).id for n in range(4)]
        self.service.start()

    def states(self) -> list[str]:
        return [self.service.get(job).state for job in self.jobs]

    def rows(self) -> list[Job]:
        return [self.service.wait(job, 180) for job in self.jobs]


@pytest.fixture
def queue(tmp_path: Path, spec: Any, make_notebook: Any) -> Any:
    made: list[Queue] = []

    def make(**settings: Any) -> Queue:
        made.append(Queue(tmp_path / "data", spec, make_notebook("1"), **settings))
        return made[-1]

    yield make
    for one in made:
        one.engine.go.set()
        one.service.start()  # a test may have stopped it
        one.rows()
        one.service.stop()


def test_jobs_are_prepared_side_by_side_and_start_in_order(queue: Any, until: Any) -> None:
    made = queue()
    until(lambda: len(made.engine.prepared) == 4)
    time.sleep(0.3)
    assert made.states() == ["preparing"] * 4, "three are ready and wait for the first"
    made.engine.go.set()
    rows = made.rows()
    assert {row.state for row in rows} == {"succeeded"}
    assert all(early.started < late.started for early, late in pairwise(rows))


@pytest.mark.parametrize("why", ["aside", "refuse"])
def test_a_first_job_that_pulls_or_fails_holds_up_nobody(queue: Any, until: Any, why: str) -> None:
    made = queue()
    setattr(made.engine, why, True)
    if why == "refuse":
        made.engine.go.set()
    else:
        made.engine.go.clear()
    until(lambda: made.states()[1:] == ["succeeded"] * 3)
    assert made.states()[0] == ("failed" if why == "refuse" else "preparing")
    started = [row.started for row in map(made.service.get, made.jobs[1:])]
    assert started == sorted(started)


@pytest.mark.parametrize("who", [0, 2])
def test_a_cancel_in_front_of_others_or_among_them(queue: Any, until: Any, who: int) -> None:
    made = queue()
    until(lambda: len(made.engine.prepared) == 4)
    made.service.cancel(made.jobs[who])
    if who:
        until(lambda: made.states()[who] == "cancelled")
        assert [state for n, state in enumerate(made.states()) if n != who] == ["preparing"] * 3
        made.engine.go.set()
    rows = made.rows()
    assert [row.state for row in rows] == ["cancelled" if n == who else "succeeded" for n in range(4)]
    assert rows[who].started is None
    started = [row.started for row in rows if row.started is not None]
    assert started == sorted(started)


def test_a_first_job_that_hangs_holds_the_others_up_only_so_long(queue: Any, until: Any) -> None:
    made = queue(order_seconds=0.5)
    until(lambda: made.states()[1:] == ["succeeded"] * 3)
    assert made.states()[0] == "preparing"


def test_a_server_that_goes_leaves_the_order_to_the_next(queue: Any, until: Any, spec: Any) -> None:
    made = queue()
    until(lambda: len(made.engine.prepared) == 4)
    made.service.stop(LIMIT)  # on a busy machine its threads take longer to leave than anybody would wait for
    assert made.states() == ["preparing"] * 4, "nobody has started"
    made.engine.go.set()
    made.service.start()
    rows = made.rows()
    assert {(row.state, row.attempts) for row in rows} == {("succeeded", 1)}
    assert all(early.started < late.started for early, late in pairwise(rows))


def test_jobs_of_the_same_instant_have_one_order(open_service: Any, spec: Any, make_notebook: Any) -> None:
    """The place in the queue, the list and the time of submission tell the same, whoever waited for whom meanwhile."""

    class Dawdles(LocalEngine):
        def check(self, job: Job, metadata: Mapping[str, Any] = NO_METADATA) -> tuple[Message, ...]:
            time.sleep(int(job.spec.name[1:]) % 5 * 0.02)
            return super().check(job, metadata)

    services = [open_service(), open_service()]
    for service in services:
        service._dispatcher = None
        service.engines["local"] = Dawdles()
    together = threading.Barrier(20)

    def submit(number: int) -> Job:
        together.wait()
        return services[number % 2].submit(spec(f"j{number}"), make_notebook("1"))

    with ThreadPoolExecutor(20) as pool:
        answered = {job.id: job for job in pool.map(submit, range(20))}
    queue = services[0].store.select(states=("queued",), oldest_first=True)
    assert [job.id for job in services[0].list()] == [job.id for job in reversed(queue)]
    assert all(early.created < late.created for early, late in pairwise(queue))
    assert {job.id: job for job in queue} == answered, "the answer says the same as the row"
