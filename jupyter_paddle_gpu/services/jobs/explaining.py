"""Why a job runs, or would run, where it does: every device with its score, or what rules it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from ...domain.decisions import Decision
from ...domain.devices import Device, DeviceHolder, Inventory
from ...domain.jobs.job import ENDED, Job
from ...domain.messages import Message
from ...domain.placements import DeviceScore
from ...domain.queues import QueueView
from ...engines.base import Engine
from ...engines.capabilities import inventory_of
from ...jobs.scheduling.queue import choice_of, need_of
from ...matching.decision import decide
from ...matching.offer import JobName
from ...matching.policy import Policy
from ...matching.score import table
from ...matching.sentences import has_share
from .placing import offer_of

if TYPE_CHECKING:
    from ...claims.claims import Claims


def _joined(
    some: Mapping[str, tuple[DeviceHolder, ...]], others: Mapping[str, tuple[DeviceHolder, ...]]
) -> dict[str, tuple[DeviceHolder, ...]]:
    return {device: (*some.get(device, ()), *others.get(device, ())) for device in {**some, **others}}


def has_devices(job: Job, devices: Iterable[Device]) -> Message:
    """What a job has that has started, or had."""
    if job.state in ENDED:
        return Message(code="job_had", text="It has ended; it had these devices.")
    here = {device.id: device for device in devices}
    known = [(here[name], part) for name, part in zip(job.device_ids, job.shares, strict=False) if name in here]
    return has_share(*known[0]) if known else Message(code="job_has", text="It has these devices.")


class JobExplained(msgspec.Struct, frozen=True, kw_only=True):
    """A job's devices as things are now.

    Attributes:
        devices: the chosen ones first, then by score, then what is ruled out and by what.
        reason: the decision in a sentence; of a job that has started, that it has.
        notes: what else is to be said of it.
    """

    job_id: str
    reason: Message
    devices: tuple[DeviceScore, ...] = ()
    notes: tuple[Message, ...] = ()


def explain(
    job: Job,
    jobs: Iterable[Job],
    engines: Mapping[str, Engine],
    here: Callable[[], Inventory],
    policy: Policy,
    *,
    claims: Claims | None = None,
    queue: Callable[[], QueueView],
) -> JobExplained:
    """The table of a job: what it has where it has started, else what it would get now.

    Args:
        queue: what it waits for, as everybody is told who looks at the queue: behind whom, and what is kept for them.
        jobs: all of this store, of which those at work have their devices.
        engines: by name; they are asked what other users' jobs have, and `claims` those that share a folder.
    """
    engine = engines[job.spec.engine]
    inventory = inventory_of(engine, here)
    working = [other for other in jobs if other.id != job.id and not other.ended]
    taken = {device: other.id for other in working if not other.shares for device in other.device_ids}
    shared: dict[str, tuple[DeviceHolder, ...]] = {}
    for other in working:
        for device, part in zip(other.device_ids, other.shares, strict=False):
            one = DeviceHolder(job=other.id, owner=other.owner, name=other.spec.name, bytes=part.bytes)
            shared[device] = (*shared.get(device, ()), one)
    offer = offer_of(engine, inventory, engines.values(), claims)
    names = {other.id: JobName(other.spec.name, other.owner) for other in working}
    shared = _joined(offer.shared, shared)
    offer = msgspec.structs.replace(offer, taken=taken, shared=shared, links=inventory.links, jobs=names)
    need = need_of(job)
    if job.device_ids:
        reason = has_devices(job, inventory.devices)
        decision = Decision(outcome="run", reason=reason, device_ids=job.device_ids)
    elif job.spec.on_cpu is not None:
        decision = Decision(outcome="cpu", reason=job.spec.on_cpu)
    else:
        decision = decide(need, offer, policy, choice_of(job))
    rows = table(need, inventory.devices, policy, decision, offer=offer, share=choice_of(job).share)
    waits = job.state == "queued" and decision.outcome in ("run", "wait")
    told = next((one.reason for one in queue().entries if one.job == job.id), None) if waits else None
    return JobExplained(job_id=job.id, reason=told or decision.reason, devices=rows, notes=decision.notes)
