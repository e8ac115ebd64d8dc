"""Who can be told of an end, of a job or of a sweep, and telling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...domain.jobs.job import Job
from ...domain.jobs.notices import ReceiverRow
from ...domain.plans.sweeps import SweepReport
from ...i18n import translator
from ...notices.settings import NoticePolicy

if TYPE_CHECKING:
    from ...domain.errors import PaddleGpuError


class Telling:
    """Tells by the policy's section `notices`.

    Args:
        policy: asked each time, so that an address that was mended counts for the next attempt.
        sweep: a sweep that is over, by its id; None where there is none.
    """

    def __init__(
        self, policy: Callable[[], NoticePolicy], sweep: Callable[[str], SweepReport | None] = lambda _: None
    ) -> None:
        self._policy, self._sweep = policy, sweep

    def send(self, receiver: str, job: Job, started: Callable[[], None]) -> bool:
        """Tell somebody; False where that kind of end is not wanted. Raises `PaddleGpuError`.

        A trial has no notices of its own: those of its row are its sweep's, of which it ended last.
        """
        from ...notices.sending import send

        policy = self._policy()
        sweep = self._sweep(job.spec.plan) if job.spec.trial is not None else None
        if (sweep or job).state not in policy.receiver(receiver).when:
            return False
        send(policy, receiver, job, translator, started, sweep=sweep)
        return True

    def is_final(self, error: PaddleGpuError) -> bool:
        """Whether another attempt would only be refused again."""
        from ...notices.sending import is_final

        return is_final(error)


def receivers(policy: NoticePolicy) -> tuple[ReceiverRow, ...]:
    """Those whom people can choose; mail addresses are typed, where there is a server for them."""
    named = [
        ReceiverRow(name=name, kind=one.kind, when=one.when, usual=name in policy.usual)
        for name, one in sorted(policy.receivers.items())
    ]
    others = [
        ReceiverRow(name=name, kind="mail", when=("succeeded", "failed"), usual=True)
        for name in policy.usual
        if name not in policy.receivers
    ]
    return (*named, *others)
