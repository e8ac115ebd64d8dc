"""The jobs of all users of this machine in one order, as every store computes it from the same files.

What others wait for stands in the plan as jobs of which only the place is known (`queue.ANOTHERS`): their turn is kept
for them, and their own process starts them. Nobody is obeyed: whoever lets his turn pass is passed by.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ...claims.boards import MOST_RUNNING, MOST_SECONDS, MOST_WAITING, Board, Boards, Posted, Running, Waiting
from ...domain.decisions import Need
from ...domain.devices import Holders
from ...domain.jobs.job import Job, JobSpec, Resources
from ..settings import JobSettings
from . import admission, fairness
from .fairness import Line, Place, Rules
from .ledger import Ledger, Now, faded, now, since_told
from .own_order import ordered
from .queue import ANOTHERS, Known, Turn, choice_of, need_of, seconds_left


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """The queue at one moment.

    Attributes:
        order: this store's jobs and, as far as they are known, others'.
        known: of all of them.
        usage: user -> device-seconds, halved a day.
        levels: job -> the step of priority on which it stands.
        shared: whether others' jobs would be seen.
    """

    order: tuple[Job, ...]
    known: Known = Known()
    usage: Mapping[str, float] = {}
    levels: Mapping[str, int] = {}
    shared: bool = False


class Neighbours:
    """Belongs to whoever looks after the queue, or shows it.

    Args:
        boards: None: there are no other users here.
        is_shared: whether a job is for devices that other users' jobs can have, too.
        seconds: how long a waiting job is expected to run.
    """

    def __init__(
        self,
        boards: Boards | None,
        settings: JobSettings,
        is_shared: Callable[[Job], bool],
        seconds: Callable[[Job], float | None],
    ) -> None:
        self._boards, self._settings = boards, settings
        self._is_shared, self._seconds = is_shared, seconds
        self._ledger = Ledger()
        self._told_at = 0.0  # on the monotonic clock
        self._told: tuple[object, ...] = ()
        self._turns: dict[tuple[str, str], float] = {}  # (user, job) -> since when it could have started
        self._passed: dict[str, float] = {}  # user -> until when nobody waits for his jobs

    def tell(self, queued: Sequence[Job], active: Sequence[Job], past: Callable[[], Iterable[Job]]) -> None:
        """Tell the others of this store's queue.

        Args:
            past: jobs that ended lately, for what they used while nobody looked.
        """
        if self._boards is None or not self._boards.is_shared:
            return
        at = now()
        if self._ledger.used is None:
            self._ledger.open(self._boards.own(), at, active, past())
        else:
            self._ledger.count(active, at)
        waiting = [job for job in ordered(queued) if self._waits(job)][:MOST_WAITING]
        running = tuple(_running(job, at.time, self._seconds(job)) for job in active if job.device_ids)[:MOST_RUNNING]
        told = (waiting, [(one.job, one.devices) for one in running])
        if self._told == told and at.clock - self._told_at < self._settings.told_seconds:
            return
        self._told_at, self._told = at.clock, told
        board = Board(
            waiting=tuple(map(self._waiting, waiting)),
            running=running,
            usage=self._ledger.used or 0.0,
            at=max(0.0, at.time),
            clock=at.clock,
        )
        starting = (job.id for job in active if job.state == "preparing" and job.device_ids)
        self._boards.tell(board, {*(job.id for job in waiting), *starting})

    def look(self, queued: Sequence[Job], active: Sequence[Job], held: Holders, user: str = "") -> Seen:
        """All jobs in order.

        Args:
            queued: this store's, in the order of their submission; `active`: those that run.
            held: devices that others have.
            user: whose this store is.
        """
        own, at = ordered(queued), now()
        shared = self._boards is not None and self._boards.is_shared
        posted = self._boards.read() if self._boards is not None and shared else []
        mine = next((one for one in posted if one.mine), None)
        others = [one for one in posted if not one.mine and one.attended]
        seconds = {job.id: found for job in (*own, *active) if (found := self._seconds(job)) is not None}
        pseudo = {job.id: job for one in others for job in _jobs(one)}
        for job in own:  # whatever another calls his jobs
            pseudo.pop(job.id, None)
        common = [job for job in own if self._waits(job)]
        lines = [_own_line(common, mine, seconds, at.time, user), *(_line(one, pseudo) for one in others)]
        usage, policy = _usage(posted, at), self._settings.now().common
        rules = Rules(priorities=policy.priorities, aging=policy.aging)
        by_id = {**pseudo, **{job.id: job for job in own}}
        ranked = fairness.ranked(lines, usage, rules, at.time)
        merged = [by_id[one.place.job] for one in ranked]
        order = _with(merged, own, {job.id for job in common})
        clock = time.monotonic()
        order = [job for job in order if job.spec.engine != ANOTHERS or self._passed.get(job.owner, 0.0) <= clock]
        for one in others:
            seconds.update({job.job: job.seconds for job in one.board.waiting if job.seconds and job.job in pseudo})
        levels = {one.place.job: one.level for one in ranked}
        known = Known(seconds, _ends(others, held))
        return Seen(order=tuple(order), known=known, usage=usage, levels=levels, shared=shared)

    def note(self, turns: Iterable[Turn]) -> None:
        """What others could have started now: whoever does not for a while is waited for no longer."""
        clock = time.monotonic()
        begun: dict[tuple[str, str], float] = {}
        for turn in turns:
            if turn.start and turn.job.spec.engine == ANOTHERS:
                key = (turn.job.owner, turn.job.id)
                begun[key] = self._turns.get(key, clock)
                if clock - begun[key] > self._settings.turn_seconds:
                    self._passed[turn.job.owner] = clock + self._settings.passed_seconds
        self._turns = begun

    def _waits(self, job: Job) -> bool:
        return not job.held and admission.devices(job) > 0 and self._is_shared(job)

    def _waiting(self, job: Job) -> Waiting:
        need, seconds = need_of(job), self._seconds(job)
        return Waiting(
            job=job.id,
            count=min(1024, admission.devices(job)),
            devices=job.spec.resources.device_ids[:16],
            low=None if need is None else need.low,
            high=None if need is None else need.high,
            share=choice_of(job).share,
            seconds=None if seconds is None else min(MOST_SECONDS, seconds),
            priority=max(-1000, min(1000, job.priority)),
        )


def _usage(posted: Iterable[Posted], at: Now) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in posted:
        found[one.user] = found.get(one.user, 0.0) + one.board.usage * faded(since_told(one.board, at))
    return found


def _running(job: Job, now: float, expected: float | None) -> Running:
    left = seconds_left(job, now, expected)
    ends = None if left is None else max(0.0, min(1e12, float(round(now + left))))
    return Running(job=job.id, devices=job.device_ids[:16], ends=ends)


def _ends(others: Iterable[Posted], held: Holders) -> dict[tuple[str, str], float]:
    """When jobs that have devices or shares of them end, by the word of those that really have them."""
    return {
        (device, job.job): job.ends
        for one in others
        for job in one.board.running
        for device in job.devices
        if job.ends is not None and any((it.job, it.owner) == (job.job, one.user) for it in held.get(device, ()))
    }


def _with(merged: Sequence[Job], own: Sequence[Job], shared: set[str]) -> list[Job]:
    """The merged order with this store's other jobs, each before the one that it stands before in its user's order."""
    order: list[Job] = []
    rest = list(own)
    for job in merged:
        if job.id in shared:
            while rest[0].id != job.id:
                order.append(rest.pop(0))
            rest.pop(0)
        order.append(job)
    return [*order, *rest]


def _own_line(shared: Sequence[Job], mine: Posted | None, seconds: Mapping[str, float], now: float, user: str) -> Line:
    places = tuple(
        Place(job=job.id, devices=admission.devices(job), seconds=seconds.get(job.id), priority=job.priority)
        for job in shared
    )
    if mine is None:  # there is nobody to compare with: any time will do
        return Line(user=user, name="", places=places, since=tuple(sorted(job.created for job in shared)))
    taken = {one.job: at for one, at in zip(mine.board.waiting, mine.since, strict=True)}
    since = sorted(at for job in shared if (at := taken.get(job.id)) is not None)
    return Line(user=mine.user, name=mine.name, places=places, since=tuple(since))


def _line(one: Posted, pseudo: Mapping[str, Job]) -> Line:
    waiting = [job for job in one.board.waiting if job.job in pseudo and pseudo[job.job].owner == one.user]
    places = tuple(Place(job=job.job, devices=job.count, seconds=job.seconds, priority=job.priority) for job in waiting)
    since = sorted(at for at in one.since if at is not None)[: len(places)]
    return Line(user=one.user, name=one.name, places=places, since=tuple(since))


def _jobs(one: Posted) -> Iterable[Job]:
    for job, since in zip(one.board.waiting, one.since, strict=True):
        need = None if job.high is None else Need(low=job.high if job.low is None else job.low, high=job.high)
        resources = Resources(gpus=len(job.devices) or job.count, device_ids=job.devices, share=job.share)
        spec = JobSpec(name="", notebook="", output="", folder="", engine=ANOTHERS, resources=resources, need=need)
        at = since or one.board.at
        yield Job(id=job.job, spec=spec, state="queued", created=at, updated=at, owner=one.user, priority=job.priority)
