"""What a place settles of when a job may start, whatever is free: quiet hours, devices of one user, longest wait."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TypeVar

from ...domain.jobs.job import Job
from ...domain.messages import Message
from ...matching.offer import Kept
from ..settings import SchedulerPolicy

EVERYBODY = "*"
"""In `quotas` and `priorities`: whoever is not named."""
WAITED_TOO_LONG = "waited_too_long"
"""Code of what a job ends with that did not start in the time that the policy allows."""
_T = TypeVar("_T")


_ROUNDING = 1e-6
"""Of shares that come to whole devices together."""


def kept(
    job: Job, order: SchedulerPolicy, now: float, used: Mapping[str, float], wanted: float | None = None
) -> Kept | None:
    """What keeps a queued job from starting; None where nothing does.

    Args:
        now: seconds since the epoch.
        used: user -> devices that jobs of theirs have, of shared ones their shares.
        wanted: how many the job counts for; None: as many as it wants.
    """
    if (waited := _waited(job, order, now)) is not None or not devices(job):
        return waited
    return kept_from_devices(job.owner, devices(job), order, now, used, wanted=wanted)


def kept_from_devices(
    user: str, asked: int, order: SchedulerPolicy, now: float, used: Mapping[str, float], *, wanted: float | None = None
) -> Kept | None:
    """What keeps any job of a user from starting on so many devices; the rest as of `kept`."""
    return _quota(user, asked, order, used, asked if wanted is None else wanted) or _quiet(order, now)


def devices(job: Job) -> int:
    """How many devices a job wants."""
    wanted = job.spec.resources
    return len(wanted.device_ids) or wanted.gpus


def said_of(table: Mapping[str, _T], user: str, otherwise: _T) -> _T:
    """What the policy says of a user, by name or as of everybody."""
    return table.get(user, table.get(EVERYBODY, otherwise))


def weight(job: Job) -> float:
    """How many devices a job has, of shared ones its shares."""
    if not job.shares:
        return devices(job)
    found = 0.0  # asked of each job that runs at each pass
    for part in job.shares:
        found += part.bytes / part.most
    return found


def _waited(job: Job, order: SchedulerPolicy, now: float) -> Kept | None:
    if order.timeout is None or job.attempts or now - job.created <= order.timeout:
        return None
    reason = Message(
        code=WAITED_TOO_LONG,
        text="It waited longer than the {seconds} s that the policy allows, and was not started.",
        hint="Submit it again when there is room, or raise `scheduler.timeout`.",
        params={"seconds": f"{order.timeout:g}"},
    )
    return Kept(reason, hopeless=True)


def _quota(user: str, asked: int, order: SchedulerPolicy, used: Mapping[str, float], wanted: float) -> Kept | None:
    most = said_of(order.quotas, user, None)
    if most is None:
        return None
    if wanted > most + _ROUNDING:
        reason = Message(
            code="quota_exceeded",
            text="It wants {wanted} devices, and the policy gives {user} {most} at once.",
            hint="Ask for fewer, or ask whoever keeps the policy.",
            singular="It wants {wanted} device, and the policy gives {user} {most} at once.",
            counted="wanted",
            params={"wanted": asked, "user": user or EVERYBODY, "most": most},
        )
        return Kept(reason, hopeless=True)
    if used.get(user, 0.0) + wanted <= most + _ROUNDING:
        return None
    reason = Message(
        code="waits_quota",
        text="Waits until other jobs of {user} have ended: the policy gives {most} devices at once.",
        singular="Waits until other jobs of {user} have ended: the policy gives {most} device at once.",
        hint="It starts by itself when one of them has ended. Whoever keeps the policy can give more.",
        counted="most",
        params={"user": user or EVERYBODY, "most": most},
    )
    return Kept(reason)


def _quiet(order: SchedulerPolicy, now: float) -> Kept | None:
    clock = time.localtime(now)
    minute = clock.tm_hour * 60 + clock.tm_min
    for span in order.quiet_hours:
        begin, end = (_minutes(text) for text in span.split("-"))
        if begin <= minute < end or (begin > end and (minute >= begin or minute < end)):
            reason = Message(
                code="waits_quiet",
                text="Waits until the quiet hours ({span}) are over.",
                hint="It starts by itself then. On the CPU a job may start at any time.",
                params={"span": span},
            )
            return Kept(reason)
    return None


def _minutes(text: str) -> int:
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)
