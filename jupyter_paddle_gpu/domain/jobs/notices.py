"""What somebody is told of a job that has ended, and what became of telling it."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..messages import Message

NoticeState = Literal["due", "sending", "sent", "failed", "unsure", "unwanted"]
OPEN: frozenset[NoticeState] = frozenset({"due", "sending"})
"""Something is still to be done."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One notice of one job to one receiver. It never holds an address with a key in it.

    Attributes:
        receiver: name of a receiver of the policy, or a mail address.
        state: `unsure`: it was being handed over when the process that did it ended, and is not sent a second time;
            `unwanted`: the receiver does not want this kind of end.
        attempts: how often it was tried.
        not_before: earliest time of the next attempt, in seconds since the epoch.
        time: when it came to this state.
        problem: why the last attempt failed.
    """

    receiver: str
    state: NoticeState = "due"
    attempts: int = 0
    not_before: float | None = None
    time: float | None = None
    problem: Message | None = None


class ReceiverRow(msgspec.Struct, frozen=True, kw_only=True):
    """A receiver as it is offered to people: nothing of it is secret."""

    name: str
    kind: str
    when: tuple[str, ...]
    usual: bool
