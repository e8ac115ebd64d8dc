"""Which queued job may start now, on which devices, and what the others wait for. No I/O: values in, a plan out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from ...domain.decisions import Choice, Need
from ...domain.devices import Device, DeviceHolder, DeviceLink, DeviceShare
from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...domain.messages import Message
from ...matching.decision import decide, openings
from ...matching.offer import Offer
from ...matching.policy import Policy
from ...matching.shares import is_shared, share_on
from ..settings import JobSettings
from . import admission
from .timeline import Timeline

ANOTHERS = "*"
"""Instead of an engine's name: a job of another store, of which only its place in the order is known."""
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


class Supply(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine has for its jobs now.

    Attributes:
        pool: engines that share their devices share its name; empty: this machine's.
        devices: None: not known here.
        links: how each two of them are joined.
        trouble: why the devices cannot all be seen just now; jobs wait for that to pass.
        assigned: the engine gives out its devices itself, and has a queue for them.
        slots: how many jobs without a device may run at once; None: as many as come.
        judged: names of devices that are not among these are the engine's to judge.
    """

    pool: str = ""
    devices: tuple[Device, ...] | None = None
    links: tuple[DeviceLink, ...] = ()
    trouble: Message | None = None
    assigned: bool = False
    slots: int | None = 1
    judged: bool = False


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a job would find that came now, behind all that wait.

    Attributes:
        taken: device id -> the job that has it or gets it now.
        shared: device id -> the jobs that have shares of it, or get them now.
        kept: device id -> the waiting job for which it is kept, for who asks for as much as was said.
        ahead: a job that waits for any device of the pool; empty: none does.
        left: job -> seconds until it is thought to end, of those that have devices, as far as something says so.
    """

    taken: Mapping[str, str] = {}
    shared: Mapping[str, tuple[DeviceHolder, ...]] = {}
    kept: Mapping[str, str] = {}
    ahead: str = ""
    left: Mapping[str, float] = {}


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
) -> Standing:
    """What a job for an engine would find behind these, which wants a share or whole devices; else as of `turns`."""
    waiting, at_work = tuple(queued), tuple(active)
    state = _State(claims, held or {}, supply, settings=settings, now=now, policy=policy or Policy(), known=known)
    state.look_at(at_work, shared or {}, engines={engine, *(job.spec.engine for job in waiting)})
    for job in waiting:
        if not job.held:
            state.turn(job)
    left = {job.id: state.left[job.id] for job in at_work if job.device_ids and job.id in state.left}
    left |= {job: end - now for (_, job), end in known.ends.items() if end > now and job not in left}
    mine = supply(engine)
    kept = {} if mine.assigned else state.timeline.ahead(None, None, asked=state.asked(engine, share))
    ahead = state.any_wanted.get(mine.pool, "") if share is None else ""
    return Standing(taken=state.busy, shared=state.sharers(), kept=kept, ahead=ahead, left=left)


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
    """
    waiting = tuple(queued)
    state = _State(claims, held or {}, supply, settings=settings, now=now, policy=policy or Policy(), known=known)
    state.look_at(active, shared or {}, engines={job.spec.engine for job in waiting})
    return [Turn(job, False, reason=HELD) if job.held else state.turn(job) for job in waiting]


class _State:
    """What is left to give while the queue is gone through."""

    def __init__(
        self,
        claims: Mapping[str, str],
        held: Mapping[str, DeviceHolder],
        supply: Callable[[str], Supply],
        *,
        settings: JobSettings,
        now: float,
        policy: Policy,
        known: Known,
    ) -> None:
        self.busy, self.held, self.supply = dict(claims), held, supply
        self.settings, self.now, self.policy, self.known = settings, now, policy, known
        self.used: dict[str, int] = {}
        self.any_wanted: dict[str, str] = {}  # by pool a job ahead that waits for any device
        self.ahead: dict[str, int] = {}
        self.capacity: dict[str, int] = {}  # by device bytes that jobs may have of it, where it tells
        self.given: dict[str, float] = {}  # devices that each user's jobs have
        self.shared: dict[str, dict[tuple[str, str], DeviceHolder]] = {}  # by device and by (owner, job) the shares
        self.away: dict[str, str] = {}  # engines that answered nobody, and the job that tries whether they do again
        self.waiting: Counter[str] = Counter()  # by pool, and by engine for jobs without a device
        self.timeline = Timeline(now, {})
        self.left: dict[str, float] = {}

    def look_at(
        self, active: Iterable[Job], shared: Mapping[str, tuple[DeviceHolder, ...]], *, engines: Iterable[str]
    ) -> None:
        """What jobs have that do not wait any more.

        Args:
            shared: what those of others have shares of.
            engines: on which somebody waits.
        """
        supplies = [self.supply(name) for name in engines]
        known = [device for supply in supplies for device in supply.devices or ()]
        self.capacity = {one.id: self.policy.allowed(one.memory_total) for one in known if one.memory_total}
        ends = {device: self.known.ends.get((device, holder.job)) for device, holder in self.held.items()}
        for job in active:
            if not job.spec.resources.gpus:
                self.used[job.spec.engine] = self.used.get(job.spec.engine, 0) + 1
            else:
                self.give(job.owner, admission.weight(job))
            self.share(job, job.device_ids, job.shares)
            if (left := seconds_left(job, self.now, self.known.seconds.get(job.id))) is not None:
                self.left[job.id] = left
            self.note_away(job)
        for holder in self.held.values():
            self.give(holder.owner, 1)
        for device, name in self.busy.items():
            ends[device] = None if name not in self.left else self.now + self.left[name]
        parts = {device: [self._part(device, one) for one in those.values()] for device, those in self.shared.items()}
        for device, holders in shared.items():
            for one in holders:
                if (one.owner, one.job) not in self.shared.get(device, {}):
                    self.shared.setdefault(device, {})[one.owner, one.job] = one
                    parts.setdefault(device, []).append((self.known.ends.get((device, one.job)), one.bytes or 0))
                    self.give(one.owner, (one.bytes or 0) / self.capacity.get(device, one.bytes or 1))
        self.timeline = Timeline(self.now, ends, capacity=self.capacity, shared=parts)

    def give(self, owner: str, devices: float) -> None:
        """A user's jobs have so many devices more."""
        self.given[owner] = self.given.get(owner, 0.0) + devices

    def share(self, job: Job, devices: Iterable[str], shares: Iterable[DeviceShare]) -> None:
        """A job has shares of these devices; without shares it has them as a whole."""
        for device, part in zip(devices, shares, strict=False):
            one = DeviceHolder(job=job.id, owner=job.owner, name=job.spec.name, bytes=part.bytes)
            self.shared.setdefault(device, {})[job.owner, job.id] = one

    def sharers(self) -> dict[str, tuple[DeviceHolder, ...]]:
        """Device id -> who has shares of it."""
        return {device: tuple(those.values()) for device, those in self.shared.items()}

    def asked(self, engine: str, share: float | None) -> dict[str, int]:
        """Device id -> bytes of it that a share comes to; empty for whole devices."""
        if share is None:
            return {}
        devices = self.supply(engine).devices or ()
        parts = {device.id: share_on(device, share, self.policy) for device in devices}
        return {device: part.bytes for device, part in parts.items() if part is not None}

    def _part(self, device: str, one: DeviceHolder) -> tuple[float | None, int]:
        return (None if one.job not in self.left else self.now + self.left[one.job]), one.bytes or 0

    def _weight(self, job: Job) -> float:
        """How many devices a waiting job counts for: of shares at most so much as on the smallest that would do."""
        share, count = choice_of(job).share, admission.devices(job)
        if share is None or share <= 1:
            return count if share is None else count * share
        enough = [most for most in self.capacity.values() if most >= share]
        return count * share / min(enough) if enough else count

    def turn(self, job: Job) -> Turn:
        if _put_off(job, self.settings, self.now):
            # It keeps its place, but must not hold up the others while it waits for its next attempt: unless that
            # waits for the engine itself. One tries then, and the others are in order when it answers again.
            self.note_away(job)
            return Turn(job, False)
        if (first := self.away.get(job.spec.engine)) is not None:
            return Turn(job, False, reason=None if _is_for_engine(job) else _waits_engine(job.spec.engine, first))
        self.note_away(job)
        return self._turn(job)

    def _turn(self, job: Job) -> Turn:
        """Of a job whose engine answers, as far as is known."""
        order = self.settings.common if job.spec.engine == ANOTHERS else self.settings.order
        if (bound := admission.kept(job, order, self.now, self.given, self._weight(job))) is not None:
            return Turn(job, False, reason=bound.reason, hopeless=bound.hopeless)
        if admission.devices(job):
            return self._device_turn(job)
        engine = job.spec.engine
        slots, running = self.supply(engine).slots, self.used.get(engine, 0)
        if slots is None or running < slots:
            self.used[engine] = running + 1
            return Turn(job, True)
        self.ahead[engine] = self.ahead.get(engine, 0) + 1
        return Turn(job, False, reason=_waits_slot(engine, running, self.ahead[engine] - 1), place=self.ahead[engine])

    def note_away(self, job: Job) -> None:
        """Where a job waits for its engine, those behind it do as well."""
        if _is_for_engine(job):
            self.away.setdefault(job.spec.engine, job.id)

    def _device_turn(self, job: Job) -> Turn:
        supply, wanted = self.supply(job.spec.engine), job.spec.resources
        need, choice, seconds = need_of(job), choice_of(job), self.known.seconds.get(job.id)
        asked = self.asked(job.spec.engine, choice.share)
        mine = (job.owner, job.id)
        offer = Offer(
            devices=supply.devices or (),
            links=supply.links,
            kept={} if supply.assigned else self.timeline.ahead(None, seconds, asked=asked),
            # Who shares stands behind what is kept, not behind everybody who waits for any device.
            ahead=self.any_wanted.get(supply.pool, "") if choice.share is None else "",
            taken={device: holder for device, holder in self.busy.items() if holder != job.id},
            held={device: holder for device, holder in self.held.items() if self.busy.get(device) != job.id},
            shared={
                device: found
                for device, those in self.shared.items()
                if (found := tuple(one for key, one in those.items() if key != mine))
            },
            left=self.left,
            trouble=supply.trouble,
            assigned=supply.assigned,
            judged=supply.judged or supply.devices is None,
        )
        decision = decide(need, offer, self.policy, choice)
        if decision.outcome == "refuse":
            return Turn(job, False, reason=decision.reason, hopeless=True)
        if decision.outcome == "run":
            if decision.shares:
                self.share(job, decision.device_ids, decision.shares)
            else:
                self.busy.update(dict.fromkeys(decision.device_ids, job.id))
            self.timeline.occupy(job.id, decision.device_ids, seconds, asked=asked)
            self.give(job.owner, self._weight(job))
            return Turn(job, True, device_ids=decision.device_ids, shares=decision.shares, starts=self.now)
        self.waiting[supply.pool] += 1
        place, starts = self.waiting[supply.pool], None
        if decision.device_ids:  # else it waits for what is not here
            possible, ready = openings(need, offer, self.policy, choice)
            starts = self.timeline.keep(job.id, admission.devices(job), possible, ready, seconds, asked=asked)
            if not wanted.device_ids:
                self.any_wanted.setdefault(supply.pool, job.id)
        return Turn(job, False, reason=decision.reason, place=place, starts=starts)


def need_of(job: Job) -> Need | None:
    """What a job needs of each of its devices: as it was estimated, or as the person asked."""
    asked = job.spec.resources.gpu_memory_bytes
    return job.spec.need or (Need(low=asked, high=asked) if asked else None)


def choice_of(job: Job) -> Choice:
    """What the person chose for it."""
    wanted = job.spec.resources
    gpus = len(wanted.device_ids) or wanted.gpus
    share = wanted.share if is_shared(wanted.share) else None
    return Choice(gpus=gpus, device_ids=wanted.device_ids, anyway=job.spec.insisted is not None, share=share)


def _is_for_engine(job: Job) -> bool:
    """Whether a job waits for its engine, or tries just now whether it answers again."""
    return job.reason is not None and job.reason.code == reasons.ENGINE_AWAY


def _put_off(job: Job, settings: JobSettings, now: float) -> bool:
    """Whether a job still waits for its next attempt. A wait far beyond the one it was given means that the clock was
    set back meanwhile: then it is over, instead of lasting for hours."""
    if job.not_before is None:
        return False
    return 0 < job.not_before - now <= 2 * settings.retry_after(job.attempts)


def _waits_slot(engine: str, running: int, ahead: int) -> Message:
    if ahead:
        return Message(
            code="waits_slot",
            text="Waits for {running} running and {ahead} waiting jobs before it on {engine}.",
            singular="Waits for {running} running and {ahead} waiting job before it on {engine}.",
            counted="ahead",
            params={"running": running, "ahead": ahead, "engine": engine},
        )
    return Message(
        code="waits_slot",
        text="Waits for {running} running jobs on {engine}.",
        singular="Waits for {running} running job on {engine}.",
        counted="running",
        params={"running": running, "engine": engine},
    )


def _waits_engine(engine: str, job: str) -> Message:
    return Message(
        code="waits_engine",
        text="Waits behind job {job} for the engine {engine}, which does not answer.",
        params={"job": job, "engine": engine},
    )
