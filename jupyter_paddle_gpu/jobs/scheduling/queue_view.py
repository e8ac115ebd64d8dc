"""What people are told of a place in the queue: seldom enough that nobody's page flickers."""

from __future__ import annotations

import time

import msgspec

from ...domain.jobs.job import QueuePlace
from ...domain.messages import Message
from ...domain.queues import QueueEntry, QueueView
from ..settings import JobSettings
from .admission import devices, said_of
from .neighbours import Seen
from .planning import Plan
from .queue import ANOTHERS, Turn

LEAST_SECONDS = 15.0
"""An expected start that moved by less is told as it was."""
SHARE = 0.1
"""Or by less than this share of what is left until then."""


BY_ITSELF = Message(
    code="starts_by_itself",
    text="It starts by itself; `jupyter paddle-gpu queue` shows who waits for what, and until about when.",
)


def with_next_step(reason: Message | None) -> Message | None:
    """What a job waits for, with what whoever reads it has to do where the reason names nothing: to wait."""
    if reason is None or reason.hint:
        return reason
    return msgspec.structs.replace(reason, hint=BY_ITSELF.text)


def place_of(turn: Turn, before: QueuePlace | None, now: float) -> QueuePlace | None:
    """A job's place as its row is to say it.

    Args:
        before: as the row says it.
    """
    if turn.place is None:
        return None
    starts = turn.starts
    if before is not None and starts is not None and before.starts is not None:
        drift = abs(starts - before.starts)
        if drift < max(LEAST_SECONDS, SHARE * (before.starts - now)) and before.starts > now:
            starts = before.starts
    return QueuePlace(number=turn.place, starts=starts)


def view(plan: Plan, user: str, settings: JobSettings) -> QueueView:
    """A plan as this user sees it."""
    return QueueView(
        time=time.time(),
        entries=tuple(_entry(turn, plan.seen) for turn in plan.turns),
        shared=plan.seen.shared,
        usage=dict(plan.seen.usage),
        priority=said_of(settings.common.priorities, user, 0),
        quota=said_of(settings.order.quotas, user, None),
    )


def _entry(turn: Turn, seen: Seen) -> QueueEntry:
    job = turn.job
    return QueueEntry(
        number=turn.place,
        job=job.id,
        user=job.owner,
        mine=job.spec.engine != ANOTHERS,
        name=job.spec.name,
        priority=job.priority,
        devices=devices(job),
        since=job.created,
        level=seen.levels.get(job.id),
        seconds=seen.known.seconds.get(job.id),
        starts=turn.starts,
        held=job.held,
        reason=with_next_step(turn.reason or job.reason),
    )
