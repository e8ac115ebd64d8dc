"""Does an estimate fit a device? One verdict, with the sentence that says why."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..domain.decisions import Need, need_of
from ..domain.devices import Accelerator, Device, DeviceProcess
from ..domain.estimates import Estimate
from ..domain.messages import Message
from ..domain.placements import Fit, Verdict
from ..domain.sizes import human
from .candidates import allowed_bytes, is_failed, room_bytes
from .policy import Policy
from .roofline import seconds_per_step


class _Card(NamedTuple):
    """What is judged: bytes to be had now, and of the empty card (None: not known)."""

    identity: str
    name: str
    room: int
    allowed: int | None


def fit_of(need: Need | None, room: int | None, allowed: int | None) -> Fit:
    """The verdict in a word.

    Args:
        room: bytes to be had now; None: not known.
        allowed: bytes to be had of the empty device; None: not known.
    """
    if need is None or room is None:
        return "unknown"
    if need.high <= room:
        return "fits"
    if need.low <= room:
        return "tight"
    return "short" if allowed is None or need.low <= allowed else "never"


def judge(
    device: Device,
    estimate: Estimate | None,
    policy: Policy,
    accelerator: Accelerator | None = None,
    *,
    promised: int = 0,
) -> Verdict:
    """The verdict on one live (or simulated) device.

    Args:
        accelerator: its row of the catalogue, for the step time.
        promised: bytes of it that are jobs' shares and not in use yet.
    """
    room = room_bytes(device, policy)
    room = None if room is None else max(0, room - promised)
    if room is None or is_failed(device):
        verdict = _unknown(device.id, device.name, device.problem or _NO_FIGURES)
    else:
        verdict = _judge(_Card(device.id, device.name, room, allowed_bytes(device, policy)), estimate)
        if verdict.fit == "short" and (holder := _largest(device.processes)) is not None:
            verdict = _with_holder(verdict, holder)
    found = _completed(verdict, estimate, accelerator, simulated=device.simulated)
    return _replaced(found, device_title=device.title, checked=device.checked)


def judge_model(accelerator: Accelerator, estimate: Estimate | None, policy: Policy) -> Verdict:
    """The verdict on an empty card of a known model."""
    allowed = policy.allowed(accelerator.usable_bytes or accelerator.memory_bytes)
    verdict = _judge(_Card(accelerator.name, accelerator.name, allowed, allowed), estimate)
    found = _completed(verdict, estimate, accelerator, simulated=False)
    return _replaced(found, checked=accelerator.checked)


def _judge(card: _Card, estimate: Estimate | None) -> Verdict:
    identity, name, room, allowed = card
    need = need_of(estimate)
    if need is None:
        for_cpu = estimate is not None and estimate.target == "cpu"
        return _unknown(identity, name, _FOR_CPU if for_cpu else _NO_ESTIMATE, free_bytes=room)
    fit, needed = fit_of(need, room, allowed), need.high
    figures = {"needed": human(needed), "free": human(room), "total": human(allowed or room), "low": human(need.low)}
    if fit == "fits":
        text = Message(
            code="fits",
            # Less than what is free: a share of each card is planned for nobody.
            text="Fits with {spare} to spare: {needed} of {free} that may be planned for.",
            params={**figures, "spare": human(room - needed)},
        )
        return Verdict(
            device_id=identity, device_name=name, fit="fits", reason=text, free_bytes=room, needed_bytes=needed
        )
    if fit == "tight":
        return Verdict(
            device_id=identity,
            device_name=name,
            fit="tight",
            reason=Message(
                code="tight",
                text="May just fit: {low} to {needed} are needed, {free} can be had.",
                hint="A smaller batch is the safe side.",
                params=figures,
            ),
            free_bytes=room,
            needed_bytes=needed,
            missing_bytes=needed - room,
        )
    if fit == "short":
        return Verdict(
            device_id=identity,
            device_name=name,
            fit="short",
            reason=Message(
                code="short",
                text="{missing} short: {needed} are needed, {free} can be had now.",
                hint="Wait until memory is free, or choose another device.",
                params={**figures, "missing": human(needed - room)},
            ),
            free_bytes=room,
            needed_bytes=needed,
            missing_bytes=needed - room,
        )
    return Verdict(
        device_id=identity,
        device_name=name,
        fit="never",
        reason=Message(
            code="never",
            text="Too small: {needed} are needed, and even the empty card offers {total}.",
            hint="Choose a smaller batch, mixed precision or a larger card.",
            params=figures,
        ),
        free_bytes=room,
        needed_bytes=needed,
        missing_bytes=needed - room,
    )


def _unknown(identity: str, name: str, reason: Message, free_bytes: int | None = None) -> Verdict:
    return Verdict(device_id=identity, device_name=name, fit="unknown", reason=reason, free_bytes=free_bytes)


def _largest(processes: tuple[DeviceProcess, ...]) -> DeviceProcess | None:
    known = [process for process in processes if process.memory_bytes]
    return max(known, key=lambda process: process.memory_bytes or 0, default=None)


def _with_holder(verdict: Verdict, holder: DeviceProcess) -> Verdict:
    params = {**verdict.reason.params, "pid": holder.pid, "held": human(holder.memory_bytes or 0)}
    if holder.job_id:
        reason = Message(
            code="short_held_by_job",
            text="{missing} short: {needed} are needed, {free} can be had now.",
            hint="The job {job} holds {held} of it. Wait for its end, or choose another device.",
            params={**params, "job": holder.job_id},
        )
    elif holder.user:
        reason = Message(
            code="short_held_by",
            text="{missing} short: {needed} are needed, {free} can be had now.",
            hint="{user} holds {held} of it (process {pid}). Wait, or choose another device.",
            params={**params, "user": holder.user},
        )
    else:
        reason = Message(
            code="short_held",
            text="{missing} short: {needed} are needed, {free} can be had now.",
            hint="Process {pid} holds {held} of it. Wait, or choose another device.",
            params=params,
        )
    return _replaced(verdict, reason=reason)


def _completed(
    verdict: Verdict, estimate: Estimate | None, accelerator: Accelerator | None, *, simulated: bool
) -> Verdict:
    names = {verdict.device_id, verdict.device_name, accelerator.name if accelerator else ""}
    fits = estimate.fits if estimate is not None else ()
    largest = next((fit.largest_batch for fit in fits if fit.device in names), None)
    need = need_of(estimate)
    seconds = seconds_per_step(need, accelerator) if need is not None and accelerator is not None else None
    return _replaced(verdict, largest_batch=largest, seconds_per_step=seconds, simulated=simulated)


def _replaced(verdict: Verdict, **changes: object) -> Verdict:
    return msgspec.structs.replace(verdict, **changes)


_NO_FIGURES = Message(
    code="no_memory_figures",
    text="This device does not tell how much memory it has.",
    hint="Run the vendor's tool in a terminal to see whether it answers there.",
)
_NO_ESTIMATE = Message(
    code="no_estimate",
    text="Not known: there is no estimate of what the training needs.",
    hint="Answer the open questions of the estimate.",
)
_FOR_CPU = Message(
    code="estimate_for_cpu",
    text="Not judged: the estimate is for the CPU, without what a GPU takes on top.",
    hint="Estimate for a GPU to see where the training fits.",
)
