"""One place under one scheduler, from the first task's arrival to the last one's end.

`fifo`, `kueue` and `slurm` are models of what people have: whole cards, asked for by kind or by none, without a look at
memory. `rules` and `learned` are this product (`product.py`): its fair order, its account, its expectations, its turns;
`packed` is the same with `prefer: least_free`, the smallest room that fits, `packing` with a score that wants little
memory left over.
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
from jupyter_paddle_gpu.matching.policy import Policy, Weights

from .product import Queue
from .workload import NOISE, REFERENCE, Place, Task

SCORED = Policy(prefer="score", default_share="estimate")
PACKING = msgspec.structs.replace(SCORED, weights=Weights(balance=0, packing=2))
PRODUCT = {
    "rules": SCORED,
    "rules, packing": PACKING,
    "packed": Policy(prefer="least_free", default_share="estimate"),
    "learned": SCORED,
    "learned, packing": PACKING,
}
"""This product, by its policy."""
LEARNED = ("learned", "learned, packing")
SCHEDULERS = ("fifo", "kueue", "slurm", *PRODUCT)
DEPTH = 40
"""Waiting tasks that one pass of the models looks at; Slurm's `bf_max_job_test` is such a bound."""
OOM_SECONDS, AGAIN_SECONDS = 120.0, 300.0
"""A task that does not fit dies after so long, and its user asks again after so long, for cards that hold it."""
SWITCHING = 0.1
"""Of a card's time is lost where tasks take turns on it: assumed, nobody measured it here."""
REFIT = 20
"""Finished jobs between two fits of the model."""


@dataclass
class Run:
    """One task at work.

    Attributes:
        whole: seconds that it takes where nobody else wants its cards' time; `left` of them at `since`.
        rate: so many of them pass in a second now.
        alone: nobody had a part of its card while it ran.
        turn: counts how often its end was foretold.
    """

    task: Task
    ids: tuple[str, ...]
    began: float
    whole: float
    left: float
    since: float
    fails: bool = False
    alone: bool = True
    rate: float = 1.0
    turn: int = 0


@dataclass
class Outcome:
    """What came of a place: seconds, shares and counts.

    Attributes:
        utilisation: share of the cards' time that tasks kept busy, until the last one came: of each card what its tasks
            can use together, at most all of it, however many they are.
        work: what was done until then, in seconds on the reference card for each second of a card.
        fairness: Jain's index over users of how much longer than alone on its cards a task took, waiting included.
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
    seed: int | str
    now: float = 0.0
    waiting: list[Task] = field(default_factory=list)
    running: list[Run] = field(default_factory=list)
    milli: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    learnt: set[str] = field(default_factory=set)
    history: list[LearnedRun] = field(default_factory=list)
    queue: Queue = field(default_factory=lambda: Queue((), SCORED))
    devices: dict[str, Device] = field(default_factory=dict)
    failures: int = 0
    work: float = 0.0
    proven_after: int | None = None

    def busy(self) -> float:
        """Cards that are kept busy now, as a number."""
        return sum(min(1000, milli) for milli in self.milli.values()) / 1000


def simulate(place: Place, scheduler: str, seed: int | str) -> Outcome:
    """Go from event to event: an arrival, an end, a task that is asked for again. `seed`: of the noise."""
    state = State(place, scheduler, seed, devices={one.id: one for one in place.devices})
    state.queue = Queue(place.devices, PRODUCT.get(scheduler, SCORED))
    state.milli = dict.fromkeys(state.devices, 0)
    state.used = dict.fromkeys(state.devices, 0)
    events: list[tuple[float, int, int, Task | Run]] = []
    number = 0

    def comes(at: float, what: Task | Run) -> None:
        nonlocal number
        number += 1
        heapq.heappush(events, (at, number, what.turn if isinstance(what, Run) else 0, what))

    for task in place.tasks:
        comes(task.arrival, task)
    busy = last = 0.0
    waits: dict[str, float] = {}
    done: dict[str, float] = {}
    alone: dict[str, float] = {}
    while events:
        now, _, turn, what = heapq.heappop(events)
        if isinstance(what, Run) and turn != what.turn:
            continue  # its end was foretold anew
        busy += state.busy() * max(0.0, min(now, place.horizon) - min(last, place.horizon))
        state.now = last = now
        touched: set[str] = set()
        if isinstance(what, Run):
            _ends(state, what)
            touched |= set(what.ids)
            if what.fails:
                state.failures += 1
                state.learnt.add(what.task.id)
                comes(now + AGAIN_SECONDS, what.task)
            else:
                done[what.task.id] = now
        else:
            state.waiting.append(what)
        for run in _pass(state):
            touched |= set(run.ids)
            if not run.fails:
                waits[run.task.id], alone[run.task.id] = run.began - run.task.arrival, run.whole
        for run in state.running:
            if touched & set(run.ids):
                comes(_foretold(state, run), run)
    users: dict[str, list[float]] = {}
    for task in place.tasks:
        took = done[task.id] - task.arrival
        users.setdefault(task.user, []).append(alone[task.id] / took)
    shares = [sum(one) / len(one) for one in users.values()]
    return Outcome(
        utilisation=busy / (len(state.devices) * place.horizon),
        work=state.work / (len(state.devices) * place.horizon),
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
    whole = OOM_SECONDS if fails else seconds
    run = Run(task, ids, state.now, whole, whole, state.now, fails)
    for name in ids:
        state.milli[name] += task.milli
        _use(state, name, state.used[name] + task.peak)
    state.running.append(run)
    return run


def _foretold(state: State, run: Run) -> float:
    """When it ends if nobody comes or goes on its cards. Whose tasks want more of a card's time than there is get it by
    turns."""
    _advance(state, run)
    wanted = max(state.milli[name] for name in run.ids)
    run.rate = 1.0 if wanted <= 1000 else (1 - SWITCHING) * 1000 / wanted
    run.alone = run.alone and wanted == run.task.milli
    run.turn += 1
    return state.now + run.left / run.rate


def _advance(state: State, run: Run) -> None:
    """It has run until now."""
    horizon, task = state.place.horizon, run.task
    within = max(0.0, min(state.now, horizon) - min(run.since, horizon)) * run.rate / run.whole
    run.left = max(0.0, run.left - run.rate * (state.now - run.since))
    run.since = state.now
    if not run.fails:
        state.work += within * state.place.seconds(task, REFERENCE) * task.count * task.milli / 1000


def _ends(state: State, run: Run) -> None:
    _advance(state, run)
    state.running.remove(run)
    for name in run.ids:
        state.milli[name] -= run.task.milli
        _use(state, name, state.used[name] - run.task.peak)
    if state.scheduler in PRODUCT:
        state.queue.ended(run.task.id, state.now)
    if state.scheduler in PRODUCT and not run.fails and run.alone and run.task.count == 1:
        _learns(state, run)


def _use(state: State, name: str, used: int) -> None:
    device, state.used[name] = state.devices[name], used
    left = max(0, (device.memory_total or 0) - used)
    state.devices[name] = msgspec.structs.replace(device, memory_used=used, memory_free=left)


def _learns(state: State, run: Run) -> None:
    """The history of the place, from which a device is chosen as soon as it has proven itself."""
    card = find(state.devices[run.ids[0]].name)
    assert card is not None
    seconds = (state.now - run.began) / run.task.steps
    cards = tuple(sorted({one.name for one in state.devices.values()}))
    state.history.append(
        LearnedRun(
            job=run.task.id, time=state.now, card=card.name, need=run.task.need, step_seconds=seconds, cards=cards
        )
    )
    count = len(state.history)
    if count % REFIT:
        return
    if state.scheduler in LEARNED and state.proven_after is None and prove(replay(state.history)).proven:
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
