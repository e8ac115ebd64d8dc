"""The match: the decision, with a verdict on every device beside it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..devices.catalogue import find
from ..domain.decisions import Choice, need_of
from ..domain.devices import Accelerator, Device, DeviceHolder, Inventory, divided
from ..domain.estimates import Estimate, processes_of
from ..domain.messages import Message
from ..domain.placements import Placement, Verdict
from . import sentences
from .candidates import named
from .decision import decide
from .fit import judge, judge_model
from .offer import Offer
from .policy import Policy
from .score import table
from .sentences import host_short
from .shares import unfilled
from .waiting import claimed
from .ways import ways_now, ways_out


def match(
    estimate: Estimate | None,
    inventory: Inventory,
    catalogue: Sequence[Accelerator] = (),
    policy: Policy | None = None,
    *,
    choice: Choice | None = None,
    offer: Offer | None = None,
    engine: str = "",
    settling: Estimate | msgspec.UnsetType | None = msgspec.UNSET,
) -> Placement:
    """Find the devices for a training.

    Args:
        estimate: what one device needs (with several, each holds a whole copy); None when there is none.
        catalogue: models to judge where this machine has no device, or none that would ever hold the training; one
            that the estimate is for is judged anyway.
        choice: the person's; devices by id or index.
        settling: by which the decision is made: of the job as a submit makes it, without a device what it takes on the
            CPU; `estimate` where it is not given.
        offer: what is known of the inventory's devices besides themselves; None: all are free.

    Raises:
        PaddleGpuError: `device_unknown`, `device_simulated`, `device_divided` for a choice that cannot be.
    """
    policy, offer = policy or Policy(), offer or Offer()
    settling = estimate if settling is msgspec.UNSET else settling
    offer = msgspec.structs.replace(offer, devices=inventory.devices, links=inventory.links)
    choice = resolved(choice or Choice(), inventory.devices)
    cut = divided(inventory.devices)

    def promised(device: Device) -> int:
        return unfilled(device, offer.shared.get(device.id, ())) if choice.share is not None else 0

    verdicts = {
        device.id: _divided(device)
        if device.id in cut
        else judge(device, estimate, policy, find(device.name), promised=promised(device))
        for device in inventory.devices
    }
    called = {device.id: sentences.named(device) for device in inventory.devices}
    seen = offer.whole() if choice.share is None else offer
    for name, holder in seen.held.items():
        if name in verdicts:
            verdicts[name] = _held(verdicts[name], holder)
    for name, job in seen.taken.items():
        if name in verdicts and verdicts[name].fit != "never":
            reason = claimed(called[name], offer.called(job), offer.left.get(job))
            verdicts[name] = msgspec.structs.replace(verdicts[name], fit="short", reason=reason)
    decision = decide(
        need_of(settling),
        offer,
        policy,
        choice,
        lambda limit: ways_out(settling, limit),
        smaller=lambda room: ways_now(settling, room),
        host=settling.allocated_peak_bytes if settling is not None else None,
    )
    if decision.outcome == "cpu" and (warning := _host(settling, inventory)) is not None:
        decision = msgspec.structs.replace(decision, notes=(*decision.notes, warning))
    real = [find(device.name) for device in inventory.devices if not device.simulated]
    is_held_here = any(verdict.fit != "never" for verdict in verdicts.values())
    models = _with_asked([] if real and is_held_here else catalogue, estimate, real)
    by_memory = sorted(models, key=lambda model: (model.memory_bytes, model.name))
    return Placement(
        engine=engine,
        decision=decision,
        device_ids=decision.device_ids,
        verdicts=tuple(verdicts.values()),
        catalogue=tuple(judge_model(model, estimate, policy) for model in by_memory),
        reasons=(decision.reason, *decision.notes),
        table=table(need_of(settling), inventory.devices, policy, decision, offer=offer, share=choice.share),
    )


def _with_asked(
    models: Sequence[Accelerator], estimate: Estimate | None, here: Sequence[Accelerator | None]
) -> Sequence[Accelerator]:
    """The models, and the one that the estimate is for, where this machine has no such card."""
    asked = None if estimate is None or not estimate.device else find(estimate.device)
    return models if asked is None or asked in models or asked in here else [*models, asked]


def resolved(choice: Choice, devices: Sequence[Device]) -> Choice:
    """The choice with devices under the identity by which they are claimed: `0` and its UUID are one.

    Where no device is known here (the driver does not answer this process) the engine is to judge the names.
    Raises `PaddleGpuError` for a device that cannot be chosen.
    """
    if not choice.device_ids:
        return choice
    known = {device.id for device in devices}
    ids = choice.device_ids
    if known & set(ids) or not all(device.simulated for device in devices):
        ids = tuple(device.id for device in named(ids, devices))
    return msgspec.structs.replace(choice, device_ids=ids, gpus=len(ids))


def _host(estimate: Estimate | None, inventory: Inventory) -> Message | None:
    """A warning where the training would not fit the machine's own memory either."""
    if estimate is None or estimate.allocated_peak_bytes is None:
        return None
    needed = estimate.allocated_peak_bytes * processes_of(estimate, 0)
    free = inventory.host.memory_available
    return None if needed <= free else host_short(needed, free)


def _held(verdict: Verdict, holder: DeviceHolder) -> Verdict:
    """Not now, whatever memory is free; what can never be stays so."""
    if verdict.fit == "never":
        return verdict
    if not holder.owner:
        reason = Message(
            code="held_by_other",
            text="The container {container} has this device now; a job waits until that one has ended.",
            hint="Submit to wait in the queue, or choose another device.",
            params={"container": holder.job},
        )
        return msgspec.structs.replace(verdict, fit="short", reason=reason)
    reason = Message(
        code="held_by_other",
        text="Job {job} of {owner} has this device now; a job waits until that one has ended.",
        hint="Submit to wait in the queue, or choose another device.",
        params={"job": holder.job, "owner": holder.owner},
    )
    return msgspec.structs.replace(verdict, fit="short", reason=reason)


def _divided(device: Device) -> Verdict:
    reason = Message(
        code="divided",
        text="This card is divided into slices (MIG); each slice is judged by itself.",
    )
    return Verdict(
        device_id=device.id,
        device_name=device.name,
        device_title=device.title,
        fit="unknown",
        reason=reason,
        simulated=device.simulated,
        checked=device.checked,
    )
