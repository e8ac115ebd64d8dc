"""What is left of an engine's devices while the queue is gone through: who has what, and for whom it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from ...domain.decisions import Choice, Decision, Need
from ...domain.devices import Device, DeviceHolder, DeviceLink, DeviceShare
from ...domain.jobs.job import Job
from ...domain.messages import Message
from ...matching.decision import decide, openings
from ...matching.offer import JobName, Offer
from ...matching.policy import Policy
from ...matching.pool import Pool
from ...matching.shares import share_on
from . import admission
from .pools import PoolKey, Pools
from .prospects import Prospects
from .timeline import Timeline


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


class Wish(NamedTuple):
    """What a job wants of an engine's devices.

    Attributes:
        ahead: a job that waits for any of them already.
        seconds: how long it is expected to run; None: nobody knows.
    """

    job: Job
    need: Need | None
    choice: Choice
    ahead: str
    seconds: float | None


class _Names(Mapping[str, JobName]):
    """What sentences say of jobs, made of their rows: of thousands few are asked for."""

    def __init__(self) -> None:
        self.rows: dict[str, Job] = {}

    def __getitem__(self, name: str) -> JobName:
        job = self.rows[name]
        return JobName(job.spec.name, job.owner)

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class Room:
    """The devices of all engines.

    Args:
        claims: device id -> the job that has it as a whole; `held`: who has it that is none of this queue's.
        ends: (device id, job) -> when a job of another store is thought to end.
        pools: indices of the passes before.

    Attributes:
        left: job -> seconds until it is thought to end.
        jobs: what sentences say of a job.
    """

    def __init__(
        self,
        claims: Mapping[str, str],
        held: Mapping[str, DeviceHolder],
        policy: Policy,
        now: float,
        ends: Mapping[tuple[str, str], float],
        *,
        pools: Pools | None = None,
    ) -> None:
        self.busy, self.held, self.policy = dict(claims), held, policy
        self._now, self._until = now, ends
        self.left: dict[str, float] = {}
        self.jobs = _Names()
        self.capacity: dict[str, int] = {}  # by device bytes that jobs may have of it, where it tells
        self.shared: dict[str, tuple[DeviceHolder, ...]] = {}
        self.timeline = Timeline(now, {})
        self._sizes: list[int] = []
        self._own: dict[str, list[str]] = {}  # of jobs that still wait
        self._pools = Pools() if pools is None else pools
        self._indices: dict[PoolKey, _Index] = {}

    def open(
        self,
        supplies: Iterable[Supply],
        at_work: Mapping[str, Job],
        shared: Mapping[str, tuple[DeviceHolder, ...]],
        give: Callable[[str, float], None],
    ) -> None:
        """Begin with what jobs have that do not wait any more.

        Args:
            at_work: by their ids; `shared`: what those of others have shares of.
            give: is told how many devices whose jobs have.
        """
        devices = [one for supply in supplies for one in supply.devices or ()]
        usable = {one.id: size for one in devices if (size := one.memory_usable)}
        allowed = {size: self.policy.allowed(size) for size in set(usable.values())}
        self.capacity = {name: allowed[size] for name, size in usable.items()}
        self._sizes = sorted(set(allowed.values()))
        ends = {device: self._until.get((device, holder.job)) for device, holder in self.held.items()}
        for holder in self.held.values():
            give(holder.owner, 1)
        for device, name in self.busy.items():
            ends[device] = self._end(name)
            if name not in at_work:
                self._own.setdefault(name, []).append(device)
        self.timeline = Timeline(self._now, ends, capacity=self.capacity)
        share = self.timeline.share
        for name, job in at_work.items():
            if parts := job.shares:
                self.share(job, job.device_ids, parts)
                end = self._end(name)
                for device, part in zip(job.device_ids, parts):  # noqa: B905  # of thousands: an argument by name costs
                    share(device, end, part.bytes)
        for device, holders in shared.items():
            mine = {(one.owner, one.job) for one in self.shared.get(device, ())}
            for one in holders:
                if (one.owner, one.job) not in mine:
                    self.shared[device] = (*self.shared.get(device, ()), one)
                    share(device, self._until.get((device, one.job)), one.bytes or 0)
                    self._own.setdefault(one.job, []).append(device)
                    give(one.owner, (one.bytes or 0) / self.capacity.get(device, one.bytes or 1))

    def share(self, job: Job, devices: Iterable[str], shares: Iterable[DeviceShare]) -> None:
        """A job has shares of these devices; without shares it has them as a whole."""
        shared = self.shared
        for device, part in zip(devices, shares):  # noqa: B905  # as above
            one = DeviceHolder(job=job.id, owner=job.owner, name=job.spec.name, bytes=part.bytes)
            shared[device] = (*self._beside(device, job), one) if device in shared else (one,)

    def asked(self, devices: Iterable[Device], share: float | None) -> dict[str, int]:
        """Device id -> bytes of it that a share comes to; empty for whole devices."""
        if share is None:
            return {}
        parts = ((device.id, share_on(device, share, self.policy)) for device in devices)
        return {device: part.bytes for device, part in parts if part is not None}

    def weight(self, count: int, share: float | None) -> float:
        """How many devices a waiting job that wants so many counts for: of shares at most so much as on the smallest
        that would do."""
        if share is None or share <= 1:
            return count if share is None else count * share
        enough = next((most for most in self._sizes if most >= share), None)
        return count if enough is None else count * share / enough

    def decide(self, supply: Supply, wish: Wish) -> Decision:
        """What becomes of a job now, and why."""
        offer = self._offer(supply, wish, self._seen(supply, wish))
        return decide(wish.need, offer, self.policy, wish.choice, told=False)

    def begin(self, supply: Supply, wish: Wish, decision: Decision) -> None:
        """A job has what was decided."""
        job, ids = wish.job, decision.device_ids
        if decision.shares:
            self.share(job, ids, decision.shares)
        else:
            self.busy.update(dict.fromkeys(ids, job.id))
        asked = {name: part.bytes for name, part in zip(ids, decision.shares, strict=False)}
        self.timeline.occupy(job.id, ids, wish.seconds, asked=asked)
        for index in self._indices.values():
            index.pool.changed(ids)
        self._note()

    def wait(self, supply: Supply, wish: Wish) -> float | None:
        """Keep devices for a job that waits; when it will start, None where nobody knows."""
        seen, choice = self._seen(supply, wish), wish.choice
        if not choice.device_ids:
            index = self._index(supply)
            known = {one.id: one for one in (*seen, *index.prospects.awaited(wish.need, choice, wish.seconds))}
            seen = tuple(known[name] for name in sorted(known, key=index.pool.place.__getitem__))
        possible, ready = openings(wish.need, self._offer(supply, wish, seen), self.policy, choice)
        asked, count = self.asked(seen, choice.share), admission.devices(wish.job)
        starts = self.timeline.keep(wish.job.id, count, possible, ready, wish.seconds, asked=asked)
        if starts is None and len(possible) >= count:
            self._hope(supply, wish, possible)
        self._note()
        return starts

    def _hope(self, supply: Supply, wish: Wish, possible: tuple[str, ...]) -> None:
        pool, choice = self._index(supply).pool, wish.choice
        names = possible if choice.device_ids else tuple(pool.unclaimed(wish.need, choice))
        here = [pool.devices[pool.place[name]] for name in names if name in pool.place]
        self.timeline.hope(wish.job.id, names, asked=self.asked(here, choice.share))

    def _seen(self, supply: Supply, wish: Wish) -> tuple[Device, ...]:
        """The devices that this job's decision depends on."""
        seconds, keeper = wish.seconds, self.timeline.keeper

        def kept(name: str, size: int | None) -> bool:
            return keeper(name, seconds, size) is not None

        own = self._own.get(wish.job.id, ())
        return self._index(supply).pool.narrowed(wish.need, wish.choice, own=own, kept=kept)

    def _offer(self, supply: Supply, wish: Wish, devices: tuple[Device, ...]) -> Offer:
        job, names, is_kept = wish.job.id, [device.id for device in devices], self.timeline.is_kept
        names += wish.choice.device_ids
        kept: dict[str, str] = {}
        if not supply.assigned and (awaited := [one for one in names if is_kept(one)]):
            asked = self.asked([device for device in devices if is_kept(device.id)], wish.choice.share)
            kept = self.timeline.ahead(awaited, wish.seconds, asked=asked)
        return Offer(
            devices=devices,
            links=supply.links,
            kept=kept,
            ahead=wish.ahead,
            taken={one: holder for one in names if (holder := self.busy.get(one)) is not None and holder != job},
            held={one: self.held[one] for one in names if one in self.held and self.busy.get(one) != job},
            shared={one: found for one in names if one in self.shared and (found := self._beside(one, wish.job))},
            left=self.left,
            jobs=self.jobs,
            suits=self._index(supply).pool.suits,
            trouble=supply.trouble,
            assigned=supply.assigned,
            judged=supply.judged or supply.devices is None,
        )

    def _beside(self, device: str, job: Job) -> tuple[DeviceHolder, ...]:
        found = self.shared.get(device, ())
        for one in found:
            if one.job == job.id and one.owner == job.owner:
                return tuple(other for other in found if other is not one)
        return found

    def _end(self, job: str) -> float | None:
        left = self.left.get(job)
        return None if left is None else self._now + left

    def close(self) -> None:
        """All had their turn: the indices serve the next pass."""
        for key, index in self._indices.items():
            self._pools.give_back(key, index.pool)

    def _index(self, supply: Supply) -> _Index:
        key, devices = (supply.pool, supply.devices is None), supply.devices or ()
        found = self._indices.get(key)
        if found is None or (found.devices is not devices and found.devices != devices):
            pool = self._pools.take(
                key, devices, self.policy, self.busy, held=self.held, shared=self.shared, links=supply.links
            )
            found = self._indices[key] = _Index(devices, pool, Prospects(pool, self.timeline))
        return found

    def _note(self) -> None:
        for index in self._indices.values():
            index.prospects.changed(self.timeline.changed)
        self.timeline.changed.clear()


class _Index(NamedTuple):
    """What narrows an engine's devices."""

    devices: tuple[Device, ...]
    pool: Pool
    prospects: Prospects
