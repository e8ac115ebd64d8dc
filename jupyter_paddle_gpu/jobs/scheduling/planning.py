"""The queue as it is now: whose turn it is, what the others wait for, and what somebody would find who came."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...domain.devices import Device, DeviceShare, Holders, Inventory, shares_of, whole_of
from ...domain.jobs.job import ACTIVE, Job, Price
from ...domain.messages import Message
from ...engines.base import Engine
from ...engines.capabilities import OwnDevices
from ...matching.filters import price_of
from ...matching.policy import Policy
from ...matching.sentences import named
from ..settings import JobSettings
from ..store import rows
from ..store.job_store import JobStore
from . import queue
from .expected import expected_seconds, predicted_seconds
from .holders import DeviceHolders
from .neighbours import Neighbours, Seen
from .pools import Pools
from .supplies import Supplies, supply_of

if TYPE_CHECKING:
    from ...claims.boards import Boards
    from ...claims.claims import Claims

RUNS_LOOKED_AT = 5
"""Of so many runs of a notebook it is seen how long the next one takes."""
PAST_LOOKED_AT = 500
"""So many jobs are looked at for what was used while nobody looked after the queue."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A turn for each job that waits, of this store and of others, in order; `seen` is what it follows from."""

    turns: tuple[queue.Turn, ...]
    seen: Seen


class Planner:
    """Asks store, engines and the shared folder, and has the queue's rules make a plan of it. Any thread may ask.

    Args:
        inventory: this machine's devices now; None: they are not known here.

    Attributes:
        policy: which devices may be chosen for a job that names none.
    """

    def __init__(
        self,
        store: JobStore,
        engines: Mapping[str, Engine],
        settings: JobSettings,
        inventory: Callable[[], Inventory] | None,
        *,
        policy: Policy | None = None,
        claims: Claims | None = None,
        boards: Boards | None = None,
    ) -> None:
        self._store, self._engines, self._settings = store, engines, settings
        self._inventory, self.policy = inventory, policy
        self._supplies = Supplies(engines, settings, inventory)
        self._holders = DeviceHolders(engines.values(), claims, patience=settings.engine_seconds)
        self._neighbours = Neighbours(boards, settings, self._is_shared, self._seconds)
        self._expected: dict[str, float | None] = {}
        self._devices: dict[str, Device] = {}
        self._pools = Pools()

    def plan(self, queued: Sequence[Job], active: Sequence[Job]) -> Plan:
        """Everybody's turn.

        Args:
            queued: in the order of their submission.
        """
        wanting = {job.spec.engine for job in queued if wants_device(job)}
        held: Holders = self._holders.ask() if wanting else {}
        seen = self._neighbours.look(queued, active, held)
        if any(job.spec.engine == queue.ANOTHERS for job in seen.order):
            if not wanting:  # only others wait for devices: what they find is asked for them
                held = self._holders.ask()
                seen = self._neighbours.look(queued, active, held)
            wanting |= {queue.ANOTHERS}
        supply = self._supplies.ask(wanting)
        self._devices = {device.id: device for name in wanting for device in supply(name).devices or ()}
        turns = queue.turns(
            seen.order,
            active,
            claims=self._store.claims(),
            supply=supply,
            held=whole_of(held),
            shared=shares_of(held),
            settings=self._settings.now(),
            now=time.time(),
            policy=self.policy,
            known=seen.known,
            pools=self._pools,
        )
        return Plan(turns=tuple(turns), seen=seen)

    def price(self, turn: queue.Turn) -> Price | None:
        """An hour of the devices, or of the shares of them, that a turn of the last plan gives: `explain`'s prices."""
        return hour_of([self._devices.get(one) for one in turn.device_ids], turn.shares, self.policy)

    def names(self, turn: queue.Turn) -> dict[str, Message]:
        """What the devices are called that a turn of the last plan gives, by id."""
        return {one: named(self._devices[one]) for one in turn.device_ids if one in self._devices}

    def note(self, plan: Plan) -> None:
        """This is how it is now: for who looks after the queue, and plans again and again."""
        self._neighbours.note(plan.turns)

    def tell(self, queued: Sequence[Job], active: Sequence[Job]) -> None:
        """Tell other users of this store's queue."""
        self._neighbours.tell(queued, active, lambda: self._store.select(limit=PAST_LOOKED_AT))
        known = {job.id for job in (*queued, *active)}
        self._expected = {job: seconds for job, seconds in self._expected.items() if job in known}

    def turn_of(self, job: Job) -> queue.Turn:
        """The turn of a job if it were the only one and nobody had a device."""
        asked = {job.spec.engine} if wants_device(job) else set[str]()
        supply = Supplies(self._engines, self._settings, self._inventory).ask(asked)
        now, settings = time.time(), self._settings.now()
        (turn,) = queue.turns((job,), (), claims={}, supply=supply, settings=settings, now=now, policy=self.policy)
        return turn

    def standing(self, engine: str, devices: Inventory, share: float | None = None) -> queue.Standing:
        """What a job for an engine with these devices would find behind all that wait.

        Args:
            share: of each device's memory, that it wants; None: whole devices.
        """
        queued = self._store.select(states=("queued",), oldest_first=True)
        active = self._store.select(states=ACTIVE)
        supply = supply_of(self._engines[engine], engine, devices)
        held: Holders = self._holders.ask() if devices.devices else {}
        seen = self._neighbours.look([job for job in queued if self._share(job.spec.engine, engine)], active, held)
        mine = isinstance(self._engines[engine], OwnDevices)
        return queue.standing(
            [job for job in seen.order if not (mine and job.spec.engine == queue.ANOTHERS)],
            active,
            engine,
            claims=self._store.claims(),
            held=whole_of(held),
            shared=shares_of(held),
            supply=lambda name: supply,
            settings=self._settings.now(),
            now=time.time(),
            policy=self.policy,
            known=seen.known,
            share=share,
            owner=rows.owner(),
            pools=self._pools,
        )

    def _share(self, one: str, other: str) -> bool:
        """Whether two engines have the same devices."""
        return one == other or not any(isinstance(self._engines.get(name), OwnDevices) for name in (one, other))

    def _is_shared(self, job: Job) -> bool:
        engine = self._engines.get(job.spec.engine)
        return engine is not None and not isinstance(engine, OwnDevices)

    def _seconds(self, job: Job) -> float | None:
        """How long a job is expected to run, asked once."""
        if job.id not in self._expected:
            self._expected[job.id] = expected_seconds(job, self._history, self._predicted)
        return self._expected[job.id]

    def _predicted(self, job: Job) -> float | None:
        """What its steps take on the slowest card that it may get."""
        need = job.spec.need
        if need is None or self.policy is None or self._inventory is None or not wants_device(job):
            return None
        named = job.device_ids or job.spec.resources.device_ids
        here = {one.name for one in self._inventory().devices if not one.simulated and (not named or one.id in named)}
        return predicted_seconds(need, here, self.policy.experience)

    def _history(self, notebook: str) -> tuple[Job, ...]:
        return self._store.select(states=("succeeded",), notebook=notebook, limit=RUNS_LOOKED_AT)


def wants_device(job: Job) -> bool:
    """Whether a job wants a device at all."""
    return bool(job.spec.resources.gpus or job.spec.resources.device_ids)


def hour_of(devices: Sequence[Device | None], shares: Sequence[DeviceShare], policy: Policy | None) -> Price | None:
    """An hour of these devices together; a share costs its part of the memory. None where one has no price."""
    prices = [None if one is None or policy is None else price_of(one, policy) for one in devices]
    parts = [one.bytes / one.total for one in shares] or [1.0] * len(devices)
    known = [price * part for price, part in zip(prices, parts, strict=True) if price is not None]
    if policy is None or not known or len(known) < len(devices):
        return None
    return Price(hour=sum(known), currency=policy.currency)
