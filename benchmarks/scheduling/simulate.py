"""One place under one scheduler, from the first task's arrival to the last one's end.

`fifo`, `kueue` and `slurm` are models of what people have: whole cards, asked for by kind or by none, without a look at
memory. `rules` and `learned` are this product (`product.py`): its fair order, its account, its expectations, its turns.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp

import msgspec

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.learned import LearnedRun
from jupyter_paddle_gpu.jobs.scheduling.timeline import Timeline
from jupyter_paddle_gpu.matching.learned.experience import Experience
from jupyter_paddle_gpu.matching.learned.proof import prove, replay

from .product import Queue
from .workload import NOISE, REFERENCE, Place, Task

PRODUCT = ("rules", "learned")
SCHEDULERS = ("fifo", "kueue", "slurm", "rules", "learned")
DEPTH = 40
"""Waiting tasks that one pass of the models looks at; Slurm's `bf_max_job_test` is such a bound."""
OOM_SECONDS, AGAIN_SECONDS = 120.0, 300.0
"""A task that does not fit dies after so long, and its user asks again after so long, for cards that hold it."""
REFIT = 20
"""Finished jobs between two fits of the model."""


@dataclass
class Run:
    """One task at work."""

    task: Task
    ids: tuple[str, ...]
    began: float
    end: float
    fails: bool = False


@dataclass
class Outcome:
    """What came of a place: seconds, shares and counts.

    Attributes:
        utilisation: share of the cards that tasks kept busy, until the last one came.
        work: what was done until then, in seconds on the reference card for each second of a card.
        fairness: Jain's index over users of the mean share of its time in which a task ran.
    """

    utilisation: float
    work: float
    waiting: float
    completion: float
    fairness: float
    failures: int
    proven_after: int | None = None


@dataclass
class State:
    """Cards and tasks at one moment."""

    place: Place
    scheduler: str
    seed: int
    now: float = 0.0
    waiting: list[Task] = field(default_factory=list)
    running: list[Run] = field(default_factory=list)
    milli: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    learnt: set[str] = field(default_factory=set)
    history: list[LearnedRun] = field(default_factory=list)
    queue: Queue = field(default_factory=lambda: Queue(()))
    devices: dict[str, Device] = field(default_factory=dict)
    failures: int = 0
    proven_after: int | None = None

    def left(self, name: str) -> int:
        """Thousandths of a card that nobody keeps busy."""
        return 1000 - self.milli[name]


def simulate(place: Place, scheduler: str, seed: int) -> Outcome:
    """Go from event to event: an arrival, an end, a task that is asked for again."""
    state = State(place, scheduler, seed, devices={one.id: one for one in place.devices})
    state.queue = Queue(place.devices)
    state.milli = dict.fromkeys(state.devices, 0)
    state.used = dict.fromkeys(state.devices, 0)
    events: list[tuple[float, int, str, Task | Run]] = []
    for number, task in enumerate(place.tasks):
        heapq.heappush(events, (task.arrival, number, "comes", task))
    number = len(events)
    busy = work = last = 0.0
    waits: dict[str, float] = {}
    done: dict[str, float] = {}
    while events:
        now, _, _kind, what = heapq.heappop(events)
        busy += sum(state.milli.values()) / 1000 * max(0.0, min(now, place.horizon) - min(last, place.horizon))
        state.now = last = now
        if isinstance(what, Run):
            _ends(state, what)
            if what.fails:
                state.failures += 1
                state.learnt.add(what.task.id)
                number += 1
                heapq.heappush(events, (now + AGAIN_SECONDS, number, "comes", what.task))
            else:
                done[what.task.id] = now
        else:
            state.waiting.append(what)
        for run in _pass(state):
            number += 1
            heapq.heappush(events, (run.end, number, "ends", run))
            if not run.fails:
                waits[run.task.id] = run.began - run.task.arrival
                within = max(0.0, min(run.end, place.horizon) - run.began) / (run.end - run.began)
                alone = place.seconds(run.task, REFERENCE)
                work += within * alone * run.task.count * run.task.milli / 1000
    users: dict[str, list[float]] = {}
    for task in place.tasks:
        took = done[task.id] - task.arrival
        users.setdefault(task.user, []).append((took - waits[task.id]) / took)
    shares = [sum(one) / len(one) for one in users.values()]
    return Outcome(
        utilisation=busy / (len(state.devices) * place.horizon),
        work=work / (len(state.devices) * place.horizon),
        waiting=sum(waits.values()) / len(waits),
        completion=sum(done[one.id] - one.arrival for one in place.tasks) / len(place.tasks),
        fairness=sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares)),
        failures=state.failures,
        proven_after=state.proven_after,
    )


def _pass(state: State) -> list[Run]:
    """Start what may start now, in the scheduler's order."""
    started = _product(state) if state.scheduler in PRODUCT else _whole_cards(state)
    gone = {run.task.id for run in started}
    state.waiting = [task for task in state.waiting if task.id not in gone]
    return started


def _whole_cards(state: State) -> list[Run]:
    """First come first served stops at the first that waits; Kueue's best effort passes it by; Slurm's back-fill passes
    it by with who will be gone, by the time limit that he gave, before it could start."""
    started: list[Run] = []
    timeline: Timeline | None = None
    for task in state.waiting[:DEPTH]:
        suited = [name for name in state.devices if _asked(state, task, name)]
        free = [name for name in suited if state.milli[name] == 0]
        if timeline is not None:
            kept = timeline.ahead(free, task.limit)
            free = [name for name in free if name not in kept]
        if len(free) >= task.count:
            started.append(_start(state, task, tuple(free[: task.count])))
        elif state.scheduler == "fifo":
            break
        elif state.scheduler == "slurm":
            timeline = timeline or Timeline(state.now, _ends_of(state))
            timeline.keep(task.id, task.count, suited, free, task.limit)
    return started


def _asked(state: State, task: Task, name: str) -> bool:
    """Whether its user asks for such a card: of the kinds named, and, who was told so by a failure, large enough."""
    if task.id in state.learnt and (state.devices[name].memory_total or 0) < 1.05 * task.peak:
        return False
    return not task.asked or task.id in state.learnt or state.place.kinds[name] in task.asked


def _product(state: State) -> list[Run]:
    """Whose turn it is in this product's queue."""
    if not state.queue.has_room():
        return []
    found = state.queue.starts(state.waiting, state.now)
    return [_start(state, one.task, one.job.device_ids) for one in found]


def _start(state: State, task: Task, ids: tuple[str, ...]) -> Run:
    slowest = max(state.place.seconds(task, state.devices[name].name) for name in ids)
    seconds = slowest * exp(random.Random(f"{state.seed} {task.id}").gauss(0, NOISE))
    fails = any(state.used[name] + task.peak > (state.devices[name].memory_total or 0) for name in ids)
    end = state.now + (OOM_SECONDS if fails else seconds)
    run = Run(task, ids, state.now, end, fails)
    for name in ids:
        state.milli[name] += task.milli
        _use(state, name, state.used[name] + task.peak)
    state.running.append(run)
    return run


def _ends(state: State, run: Run) -> None:
    state.running.remove(run)
    for name in run.ids:
        state.milli[name] -= run.task.milli
        _use(state, name, state.used[name] - run.task.peak)
    if state.scheduler in PRODUCT:
        state.queue.ended(run.task.id, state.now)
    if state.scheduler in PRODUCT and not run.fails and run.task.count == 1:
        _learns(state, run)


def _use(state: State, name: str, used: int) -> None:
    device, state.used[name] = state.devices[name], used
    left = max(0, (device.memory_total or 0) - used)
    state.devices[name] = msgspec.structs.replace(device, memory_used=used, memory_free=left)


def _learns(state: State, run: Run) -> None:
    """The history of the place, from which a device is chosen as soon as it has proven itself."""
    card = find(state.devices[run.ids[0]].name)
    assert card is not None
    seconds = (run.end - run.began) / run.task.steps
    cards = tuple(sorted({one.name for one in state.devices.values()}))
    state.history.append(
        LearnedRun(job=run.task.id, time=run.end, card=card.name, need=run.task.need, step_seconds=seconds, cards=cards)
    )
    count = len(state.history)
    if count % REFIT:
        return
    if state.scheduler == "learned" and state.proven_after is None and prove(replay(state.history)).proven:
        state.proven_after = count
    experience = Experience(runs=tuple(state.history), active=state.proven_after is not None)
    state.queue.policy = msgspec.structs.replace(state.queue.policy, experience=experience)


def _ends_of(state: State) -> dict[str, float | None]:
    """Until when each card is thought to be busy."""
    found: dict[str, float | None] = {}
    for run in state.running:
        for name in run.ids:
            found[name] = max(found.get(name) or 0.0, run.began + run.task.limit)
    return found


def shares(values: Iterable[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % confidence interval (Student's t, for five values)."""
    known = list(values)
    mean = sum(known) / len(known)
    if len(known) < 2:
        return mean, 0.0
    spread = (sum((value - mean) ** 2 for value in known) / (len(known) - 1)) ** 0.5
    factor = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}.get(len(known), 2.0)
    return mean, factor * spread / len(known) ** 0.5
