"""The queue as people see it: the jobs of all users of a machine that wait, in order."""

from __future__ import annotations

import msgspec

from .messages import Message


class QueueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A waiting job.

    Attributes:
        number: its place from 1, among those that wait for the same; None: it is held, or about to start.
        name: of one's own; another user's is nobody's business.
        mine: whether it is of this store, so that it can be held and moved here.
        priority: among its user's own jobs; `level`: the step of priority on which it stands among all users' jobs now,
            by the policy and by how long it has waited; None: it is in no order.
        devices: how many it wants; 0: none.
        since: when it came (seconds since the epoch).
        seconds: how long it is expected to run; None: nobody knows.
        starts: when it is thought to start (seconds since the epoch).
        reason: what it waits for.
    """

    number: int | None
    job: str
    user: str
    mine: bool
    name: str = ""
    priority: int = 0
    level: int | None = None
    devices: int = 0
    since: float
    seconds: float | None = None
    starts: float | None = None
    held: bool = False
    reason: Message | None = None


class QueueView(msgspec.Struct, frozen=True, kw_only=True):
    """All that wait at one moment (`time` in seconds since the epoch).

    Attributes:
        shared: whether the jobs of all users of this machine are in it, or this store's alone.
        usage: user -> device-seconds so far, halved a day.
        priority: the step on which the policy puts this user's jobs when they come.
        quota: how many devices the policy gives this user's jobs at once; None: as many as there are.
    """

    time: float
    entries: tuple[QueueEntry, ...] = ()
    shared: bool = False
    usage: dict[str, float] = {}
    priority: int = 0
    quota: int | None = None
