"""The queue for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...domain.jobs.reasons import TOO_FAR
from ...domain.messages import Message
from ...domain.queues import QueueEntry
from ...domain.queues import QueueView as Seen
from ..speech import Speech, duration
from .machine import TableView

ALONE = Message(
    code="queue_alone",
    text="Only your own jobs are in this order.",
    hint="`jupyter paddle-gpu doctor` says how all users of this machine wait in one.",
)

NEXT = Message(
    code="queue_next",
    text="Your jobs start by themselves. `jupyter paddle-gpu queue move JOB` puts one before your others, `queue hold "
    "JOB` lets all others go first.",
)


class QueueView(TableView):
    """A row for each job that waits."""

    optional = (3, 2)
    folding = (4,)

    def __init__(self, seen: Seen) -> None:
        self.data: Seen = seen

    def lead(self, say: Speech) -> str:
        """Said where there is nothing to list."""
        return "" if self.data.entries else say("Nothing waits.")

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Place"), say("Job"), say("User"), say("Priority"), say("Waits for"), say("Starts in")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a job."""
        return [self._row(say, one) for one in self.data.entries]

    def _row(self, say: Speech, one: QueueEntry) -> Sequence[str]:
        place = "–" if one.number is None else str(one.number)
        name = f"{one.name} ({one.job.rsplit('-', 1)[-1]})" if one.name else one.job
        reason = one.reason.render(say.translate) if one.reason is not None else ""
        level = one.priority if one.level is None else one.level
        return place, name, one.user, str(level), reason, starts_in(say, one.starts, self.data.time)

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What the policy gives this user, why nothing is foretold of some, and that others' jobs are not seen, where
        they are not."""
        mine = any(one.mine and not one.held for one in self.data.entries)
        far = any(one.reason is not None and one.reason.hint == TOO_FAR.text for one in self.data.entries)
        said = (*((NEXT,) if mine else ()), *((TOO_FAR,) if far else ()), *_given(self.data))
        return said if self.data.shared else (*said, ALONE)


def _given(seen: Seen) -> Iterator[Message]:
    if seen.shared and seen.priority:
        yield Message(
            code="queue_priority",
            text="The policy gives your jobs priority {priority}.",
            params={"priority": seen.priority},
        )
    if seen.quota is not None:
        yield Message(
            code="queue_quota",
            text="The policy gives your jobs {most} devices at once.",
            singular="The policy gives your jobs {most} device at once.",
            counted="most",
            params={"most": seen.quota},
        )


def starts_in(say: Speech, starts: float | None, now: float) -> str:
    """How long it takes until then, in words; a dash where nobody knows."""
    if starts is None:
        return "–"
    return say("soon") if starts - now < 1 else say("about {time}", time=_about(starts - now))


def _about(seconds: float) -> str:
    """Nobody knows the tenths of a wait."""
    return f"{seconds:.0f} s" if seconds < 60 else duration(seconds)
