"""Which queued job may start now, on which devices, and what the others wait for. No I/O: values in, a plan out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import NamedTuple

import msgspec

from ...domain.decisions import Choice, Need
from ...domain.devices import DeviceHolder, DeviceShare
from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...domain.messages import Message, Param
from ...matching.offer import JobName, Kept, Rules
from ...matching.policy import Policy
from ...matching.shares import is_shared
from ...matching.waiting import called
from ..settings import JobSettings
from . import admission
from .pools import Pools
from .room import Room, Supply, Wish

ANOTHERS = "*"
"""Instead of an engine's name: a job of another store, of which only its place in the order is known."""
MOST_PLANNED = 100
"""So many waiting jobs of a pool have their devices kept for them, and their start foretold; who waits behind them has
a place, and starts on what they leave. Slurm's `bf_max_job_test` is such a bound: each plan makes the next one longer,
and what is foretold of the hundredth is of little worth."""
HELD = Message(
    code="held",
    text="Held: it does not start until you release it.",
    hint="`jupyter paddle-gpu queue release` lets it wait in the queue again.",
)


class Turn(msgspec.Struct, frozen=True):
    """One queued job's turn: it starts on `device_ids` (or on `shares` of them), waits for `reason`, or never can
    (`hopeless`).

    A job that waits for its next attempt has no `reason` here: the fault that it waits after stays readable.

    Attributes:
        place: from 1, among all that wait for the same; None: it waits for nothing that others want.
        starts: when it will, as far as what is ahead of it tells (seconds since the epoch).
    """

    job: Job
    start: bool
    device_ids: tuple[str, ...] = ()
    shares: tuple[DeviceShare, ...] = ()
    reason: Message | None = None
    hopeless: bool = False
    place: int | None = None
    starts: float | None = None


class Known(NamedTuple):
    """What is known beside the jobs themselves.

    Attributes:
        seconds: job id -> how long it is expected to run in all.
        ends: (device id, job) -> when a job of another store that has it, or a share of it, is thought to end (seconds
            since the epoch).
    """

    seconds: Mapping[str, float] = {}
    ends: Mapping[tuple[str, str], float] = {}


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a job would find that came now, behind all that wait.

    Attributes:
        taken: device id -> the job that has it or gets it now.
        shared: device id -> the jobs that have shares of it, or get them now.
        kept: device id -> the waiting job for which it is kept, for who asks for as much as was said.
        ahead: a job that waits for any device of the pool; empty: none does.
        left: job -> seconds until it is thought to end, of those that have devices, as far as something says so.
        after: device id -> seconds until whoever it is kept for is thought to have had it, as far as that is known.
        jobs: what sentences say of all of these.
        rules: what the place's rules keep it from.
    """

    taken: Mapping[str, str] = {}
    shared: Mapping[str, tuple[DeviceHolder, ...]] = {}
    kept: Mapping[str, str] = {}
    ahead: str = ""
    left: Mapping[str, float] = {}
    after: Mapping[str, float] = {}
    jobs: Mapping[str, JobName] = {}
    rules: Rules | None = None


def standing(
    queued: Iterable[Job],
    active: Iterable[Job],
    engine: str,
    *,
    claims: Mapping[str, str],
    supply: Callable[[str], Supply],
    held: Mapping[str, DeviceHolder] | None = None,
    shared: Mapping[str, tuple[DeviceHolder, ...]] | None = None,
    settings: JobSettings,
    now: float,
    policy: Policy | None = None,
    known: Known = Known(),  # noqa: B008  # a value
    share: float | None = None,
    owner: str = "",
    pools: Pools | None = None,
) -> Standing:
    """What a job of a user for an engine would find behind these, which wants a share or whole devices; else as of
    `turns`."""
    waiting, at_work = tuple(queued), tuple(active)
    room = Room(claims, held or {}, policy or Policy(), now, known.ends, pools=pools)
    state = _State(room, supply, settings=settings, now=now, known=known)
    state.look_at(at_work, shared or {}, engines={engine, *(job.spec.engine for job in waiting)})
    for job in waiting:
        if not job.held:
            state.turn(job)
    room.close()
    left = {job.id: room.left[job.id] for job in at_work if job.device_ids and job.id in room.left}
    left |= {job: end - now for (_, job), end in known.ends.items() if end > now and job not in left}
    mine = supply(engine)
    asked = room.asked(mine.devices or (), share)
    kept = {} if mine.assigned else room.timeline.ahead(None, None, asked=asked)
    after = {one: room.timeline.soonest(one, None, asked.get(one)) - now for one in kept}

    def rules(choice: Choice) -> Kept | None:
        count = len(choice.device_ids) or choice.gpus or 1
        wanted = room.weight(count, choice.share)
        return admission.kept_from_devices(owner, count, settings.order, now, state.given, wanted=wanted)

    return Standing(
        taken=room.busy,
        shared=room.shared,
        kept=kept,
        ahead=state.any_wanted.get(mine.pool, "") if share is None else "",
        left=left,
        after={one: seconds for one, seconds in after.items() if seconds < inf},
        jobs=room.jobs,
        rules=rules,
    )


def seconds_left(job: Job, now: float, expected: float | None = None) -> float | None:
    """Seconds until a job is thought to end: by its progress, by what is expected of it, or by its time limit."""
    if job.progress.seconds_left is not None:
        return max(0.0, job.progress.seconds_left)
    limit = job.spec.resources.seconds if expected is None else expected
    return None if limit is None or job.started is None else max(0.0, job.started + limit - now)


def turns(
    queued: Iterable[Job],
    active: Iterable[Job],
    *,
    claims: Mapping[str, str],
    supply: Callable[[str], Supply],
    held: Mapping[str, DeviceHolder] | None = None,
    shared: Mapping[str, tuple[DeviceHolder, ...]] | None = None,
    settings: JobSettings,
    now: float,
    policy: Policy | None = None,
    known: Known = Known(),  # noqa: B008  # a value
    pools: Pools | None = None,
) -> list[Turn]:
    """Go through the queue in order. Nobody is overtaken for a thing he waits for: what a waiting job is to get (a slot
    of its engine, its devices, those that become free first) is kept for it, unless whoever comes behind is thought to
    have left by then.

    Args:
        queued: in the order in which they wait, those of other stores (`ANOTHERS`) among them.
        active: their rows say of which devices they have a share.
        claims: device id -> the job that has it as a whole.
        supply: what an engine has, by its name.
        held: device id -> who has it that is none of this queue's; `shared`: who has a share of it.
        now: seconds since the epoch, by a clock that may have been set anew since a job was put off.
        policy: which devices may be chosen for a job that names none, and in which order.
        pools: what was made of the devices in the passes before.
    """
    waiting = tuple(queued)
    room = Room(claims, held or {}, policy or Policy(), now, known.ends, pools=pools)
    state = _State(room, supply, settings=settings, now=now, known=known)
    state.look_at(active, shared or {}, engines={job.spec.engine for job in waiting})
    found = [Turn(job, False, reason=HELD) if job.held else state.turn(job) for job in waiting]
    room.close()
    return found


class _State:
    """What is left to give while the queue is gone through."""

    def __init__(
        self, room: Room, supply: Callable[[str], Supply], *, settings: JobSettings, now: float, known: Known
    ) -> None:
        self.room, self.supply, self.settings, self.now, self.known = room, supply, settings, now, known
        self.used: dict[str, int] = {}
        self.any_wanted: dict[str, str] = {}  # by pool a job ahead that waits for any device
        self.ahead: dict[str, int] = {}
        self.given: dict[str, float] = {}  # devices that each user's jobs have
        self.away: dict[str, str] = {}  # engines that answered nobody, and the job that tries whether they do again
        self.waiting: Counter[str] = Counter()  # by pool, and by engine for jobs without a device

    def look_at(
        self, active: Iterable[Job], shared: Mapping[str, tuple[DeviceHolder, ...]], *, engines: Iterable[str]
    ) -> None:
        """What jobs have that do not wait any more.

        Args:
            shared: what those of others have shares of.
            engines: on which somebody waits.
        """
        at_work = {job.id: job for job in active}
        ends, expected, given, now = self.room.left, self.known.seconds, self.given, self.now
        self.room.jobs.rows.update(at_work)
        for name, job in at_work.items():
            spec, owner = job.spec, job.owner
            if not spec.resources.gpus:
                self.used[spec.engine] = self.used.get(spec.engine, 0) + 1
            else:
                given[owner] = given.get(owner, 0.0) + admission.weight(job)
            if (left := seconds_left(job, now, expected.get(name))) is not None:
                ends[name] = left
            if job.reason is not None:
                self.note_away(job)
        self.room.open([self.supply(name) for name in engines], at_work, shared, self.give)

    def give(self, owner: str, devices: float) -> None:
        """A user's jobs have so many devices more."""
        self.given[owner] = self.given.get(owner, 0.0) + devices

    def turn(self, job: Job) -> Turn:
        self.room.jobs.rows[job.id] = job
        if _put_off(job, self.settings, self.now):
            # It keeps its place, but must not hold up the others while it waits for its next attempt: unless that
            # waits for the engine itself. One tries then, and the others are in order when it answers again.
            self.note_away(job)
            return Turn(job, False)
        if (first := self.away.get(job.spec.engine)) is not None:
            return Turn(job, False, reason=None if _is_for_engine(job) else self._waits_engine(job.spec.engine, first))
        self.note_away(job)
        return self._turn(job)

    def _turn(self, job: Job) -> Turn:
        """Of a job whose engine answers, as far as is known."""
        order = self.settings.common if job.spec.engine == ANOTHERS else self.settings.order
        wanted = self.room.weight(admission.devices(job), choice_of(job).share)
        bound = admission.kept(job, order, self.now, self.given, wanted)
        if bound is not None and not self._is_impossible(job):
            return Turn(job, False, reason=bound.reason, hopeless=bound.hopeless)
        if admission.devices(job):
            return self._device_turn(job)
        engine = job.spec.engine
        slots, running = self.supply(engine).slots, self.used.get(engine, 0)
        if slots is None or running < slots:
            self.used[engine] = running + 1
            return Turn(job, True)
        self.ahead[engine] = self.ahead.get(engine, 0) + 1
        return Turn(job, False, reason=_waits_slot(running, self.ahead[engine] - 1), place=self.ahead[engine])

    def _is_impossible(self, job: Job) -> bool:
        """Whether it could never start on what is here: then no rule of the place makes it wait."""
        if not admission.devices(job):
            return False
        wish = Wish(job, need_of(job), choice_of(job), "", None)
        return self.room.decide(self.supply(job.spec.engine), wish).outcome == "refuse"

    def _waits_engine(self, engine: str, first: str) -> Message:
        known = self.room.jobs[first]
        return _waits_engine(engine, called(first, known.name, known.owner))

    def note_away(self, job: Job) -> None:
        """Where a job waits for its engine, those behind it do as well."""
        if _is_for_engine(job):
            self.away.setdefault(job.spec.engine, job.id)

    def _device_turn(self, job: Job) -> Turn:
        supply, choice = self.supply(job.spec.engine), choice_of(job)
        # Who shares stands behind what is kept, not behind everybody who waits for any device.
        ahead = self.any_wanted.get(supply.pool, "") if choice.share is None else ""
        wish = Wish(job, need_of(job), choice, ahead, self.known.seconds.get(job.id))
        decision = self.room.decide(supply, wish)
        if decision.outcome == "refuse":
            return Turn(job, False, reason=decision.reason, hopeless=True)
        if decision.outcome == "run":
            self.room.begin(supply, wish, decision)
            self.give(job.owner, self.room.weight(admission.devices(job), choice.share))
            return Turn(job, True, device_ids=decision.device_ids, shares=decision.shares, starts=self.now)
        self.waiting[supply.pool] += 1
        place, starts, reason = self.waiting[supply.pool], None, decision.reason
        if decision.device_ids and place <= MOST_PLANNED:  # else it waits for what is not here, or far behind
            starts = self.room.wait(supply, wish)
            if not choice.device_ids:
                self.any_wanted.setdefault(supply.pool, job.id)
        if place > MOST_PLANNED and not reason.hint:
            reason = msgspec.structs.replace(reason, hint=reasons.TOO_FAR.text)
        return Turn(job, False, reason=reason, place=place, starts=starts)


def need_of(job: Job) -> Need | None:
    """What a job needs of each of its devices: as it was estimated, or as the person asked."""
    asked = job.spec.resources.gpu_memory_bytes
    return job.spec.need or (Need(low=asked, high=asked) if asked else None)


def choice_of(job: Job) -> Choice:
    """What the person chose for it."""
    wanted = job.spec.resources
    gpus = len(wanted.device_ids) or wanted.gpus
    share = wanted.share if is_shared(wanted.share) else None
    anyway, names = job.spec.insisted is not None, job.spec.device_names
    return Choice(gpus=gpus, device_ids=wanted.device_ids, names=names, anyway=anyway, share=share)


def _is_for_engine(job: Job) -> bool:
    """Whether a job waits for its engine, or tries just now whether it answers again."""
    return job.reason is not None and job.reason.code == reasons.ENGINE_AWAY


def _put_off(job: Job, settings: JobSettings, now: float) -> bool:
    """Whether a job still waits for its next attempt. A wait far beyond the one it was given means that the clock was
    set back meanwhile: then it is over, instead of lasting for hours."""
    if job.not_before is None:
        return False
    return 0 < job.not_before - now <= 2 * settings.retry_after(job.attempts)


def _waits_slot(running: int, ahead: int) -> Message:
    if ahead:
        return Message(
            code="waits_slot",
            text="Waits for {running} running and {ahead} waiting jobs before it.",
            singular="Waits for {running} running and {ahead} waiting job before it.",
            counted="ahead",
            params={"running": running, "ahead": ahead},
        )
    return Message(
        code="waits_slot",
        text="Waits for {running} running jobs.",
        singular="Waits for {running} running job.",
        counted="running",
        params={"running": running},
    )


def _waits_engine(engine: str, job: Param) -> Message:
    return Message(
        code="waits_engine",
        text="Waits behind job {job} for the engine {engine}, which does not answer.",
        params={"job": job, "engine": engine},
    )
