"""What is here for a job at one moment: its engine's devices, and who has which of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from ..domain.decisions import Choice
from ..domain.devices import Device, DeviceHolder, DeviceLink
from ..domain.jobs import reasons
from ..domain.messages import Message, Param
from . import waiting

Suits = Callable[[Device, int], bool]
"""What `candidates.usable` says of a device among all that there are, for so many devices."""


class Kept(NamedTuple):
    """Why a job does not start now, whatever is free; `hopeless`: nor ever."""

    reason: Message
    hopeless: bool = False


Rules = Callable[[Choice], "Kept | None"]
"""What the place's rules (quotas, quiet hours) keep a job on devices from; None: from nothing."""


class JobName(msgspec.Struct, frozen=True, gc=False):
    """What is known of a job in a sentence: its name (another user's is nobody's business: empty) and whose it is."""

    name: str
    owner: str


NAMELESS = JobName("", "")
"""Of a job nothing is known."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What is here for a job: its engine's devices at one moment.

    Attributes:
        taken: device id -> the job of this queue that has it, or waits for it further ahead.
        held: device id -> the job of another user that has it.
        shared: device id -> the jobs, of whomever, that have a share of its memory.
        links: how each two of the devices are joined.
        kept: device id -> the job ahead in this queue for which it is kept; whoever comes later may not start on it.
        ahead: a job of this queue that waits for any of these devices; empty: none does.
        suits: whether a device may be chosen by itself for a job that wants so many, where that was looked at already.
        left: job -> seconds until it is thought to end, of those that have a device.
        after: device id -> seconds until whoever it is kept for is thought to have had it; only where that is known.
        jobs: what is known of the jobs in `taken`, `kept` and `ahead`.
        trouble: why not all devices can be seen just now; it passes.
        assigned: the engine gives out its devices itself, and has a queue for them.
        memory: bytes of the machine's memory that a job may have at most; None: nothing limits it.
        rules: for a job that comes now; None: somebody else looks at them.
        judged: names of devices that are not seen from here are the engine's to judge; else there are none.
    """

    devices: tuple[Device, ...] = ()
    taken: Mapping[str, str] = {}
    held: Mapping[str, DeviceHolder] = {}
    shared: Mapping[str, tuple[DeviceHolder, ...]] = {}
    kept: Mapping[str, str] = {}
    links: tuple[DeviceLink, ...] = ()
    ahead: str = ""
    left: Mapping[str, float] = {}
    after: Mapping[str, float] = {}
    jobs: Mapping[str, JobName] = {}
    suits: Suits | None = None
    trouble: Message | None = None
    assigned: bool = False
    memory: int | None = None
    judged: bool = False
    rules: Rules | None = None

    def blocking(self, device: str, named: Param = "") -> Message | None:
        """Who else has a device (`named`: what it is called) or waits for it; None where it is free."""
        if (job := self.taken.get(device) or self.kept.get(device)) is not None:
            return waiting.claimed(named or device, self.called(job), self.left.get(job))
        if (holder := self.held.get(device)) is not None:
            return reasons.device_held(named or device, holder)
        return None

    def called(self, job: str) -> Param:
        """A job in a sentence."""
        known = self.jobs.get(job, NAMELESS)
        return waiting.called(job, known.name, known.owner)

    def whole(self) -> Offer:
        """The same for who wants devices as a whole: of which somebody has a share, that one has it."""
        first = {device: holders[0] for device, holders in self.shared.items() if holders}
        mine = {device: one.job for device, one in first.items() if one.name}  # of others no name is told
        others = {device: one for device, one in first.items() if device not in mine}
        return msgspec.structs.replace(self, taken={**mine, **self.taken}, held={**others, **self.held}, shared={})

    def is_free(self, device: str) -> bool:
        """Whether nobody else has it or waits for it."""
        return device not in self.kept and not self.is_had(device)

    def is_had(self, device: str) -> bool:
        """Whether somebody else has it."""
        return device in self.taken or device in self.held
