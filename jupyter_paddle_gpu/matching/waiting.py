"""What is said of jobs that wait: behind whom, for what, and until about when others have it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from ..domain.devices import Device
from ..domain.messages import Message, Param
from .sentences import named


def called(job: str, name: str, owner: str) -> Param:
    """What a job is called wherever a sentence speaks of it: one's own by its name; another's has none to tell."""
    if name:
        return f"“{name}”"
    return Message(code="job_of", text="{job} of {owner}", params={"job": job, "owner": owner}) if owner else job


def claimed(device: Param, job: Param, left: float | None = None) -> Message:
    """Another job of this queue has the device, or waits for it. `left`: seconds until it is thought to end."""
    if left is not None:
        return Message(
            code="waits_device",
            text="Waits for {device}, which job {job} has for about {left} more.",
            params={"device": device, "job": job, "left": _about(left)},
        )
    return Message(
        code="waits_device",
        text="Waits for {device}, which job {job} has.",
        params={"device": device, "job": job},
    )


def _about(seconds: float) -> Message:
    """A duration in its largest unit, rounded up."""
    if seconds > 1.5 * 3600:
        return Message(code="about", text="{count} h", params={"count": ceil(seconds / 3600)})
    if seconds > 1.5 * 60:
        return Message(code="about", text="{count} min", params={"count": ceil(seconds / 60)})
    return Message(code="about", text="{count} s", params={"count": max(1, ceil(seconds))})


def behind(job: Param) -> Message:
    """A job further ahead waits for any device, and whoever comes behind it does not overtake it."""
    return Message(code="waits_job", text="Waits behind job {job}, which waits for a device.", params={"job": job})


def has_until(device: Device, job: Param, left: float) -> Message:
    """How long another job has a device, as far as its progress or its time limit says."""
    return Message(
        code="has_until",
        text="Job {job} has {device} for about {left} more.",
        params={"job": job, "device": named(device), "left": _about(left)},
    )


def first_free(device: Device, job: Param, left: float, *, kept: bool = False) -> Message:
    """Of the devices that others have the one that is thought to be free first.

    Args:
        job: that has it now; `kept`: others wait for it.
    """
    if kept:
        return Message(
            code="first_free",
            text="{device} is thought to be free first, in about {left}, when those who wait for it have had it.",
            params={"device": named(device), "left": _about(left)},
        )
    return Message(
        code="first_free",
        text="{device} is thought to be free first, in about {left}, when job {job} ends.",
        params={"job": job, "device": named(device), "left": _about(left)},
    )


def wait_for(device: Device, left: float) -> Message:
    """On a button: this device and no other, and until about when others have it."""
    return Message(
        code="wait_for",
        text="Wait for {device} (about {left})",
        params={"device": device.title, "left": _about(left)},
    )


def no_longer(reason: Message) -> Message:
    """A job that could start when it was accepted, and cannot on what is here now."""
    return Message(
        code="no_longer_possible",
        text="Waits for what was here when it was submitted: {reason}",
        hint="It starts when that is back. If it does not come back, stop the job and submit it anew.",
        params={"reason": reason},
    )


def too_few_free(count: int, free: int, others: Sequence[str], *, mine: bool) -> Message:
    """Not as many devices are free as are asked for.

    Args:
        others: users whose jobs have some; `mine`: whether jobs of whoever reads this have some.
    """
    who = _whose(others, mine=mine)
    params: dict[str, Param] = {"count": count, "free": free, "owners": ", ".join(others), "who": who or ""}
    if who is None:
        return Message(
            code="waits_free_device",
            text="{free} of the {count} devices that it needs are free now."
            if free
            else "No device with enough memory is free now.",
            singular="{free} of the {count} devices that it needs is free now." if free else "",
            counted="free",
            hint="It starts by itself as soon as it can.",
            params=params,
        )
    return Message(
        code="waits_free_device",
        text="{free} of the {count} devices that it needs are free: {who} have the others."
        if free
        else "No device with enough memory is free: {who} have them all.",
        singular="{free} of the {count} devices that it needs is free: {who} have the others." if free else "",
        counted="free",
        hint="It starts by itself when they make room; to start it sooner, stop one of yours."
        if mine
        else "It starts by itself when they make room.",
        params=params,
    )


def _whose(others: Sequence[str], *, mine: bool) -> Message | None:
    """Whose jobs have the devices; None where nobody's are known."""
    owners: dict[str, Param] = {"owners": ", ".join(others)}
    if mine and others:
        return Message(code="whose_jobs", text="jobs of yours and of {owners}", params=owners)
    if mine:
        return Message(code="whose_jobs", text="jobs of yours")
    return Message(code="whose_jobs", text="jobs of {owners}", params=owners) if others else None
