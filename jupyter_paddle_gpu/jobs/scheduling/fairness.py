"""In which order the jobs of several people wait. No I/O, no clock: values in, an order out, the same for everybody.

Each user's store is a line: its jobs in the order that the user gave them. The lines are merged: whoever's first job
stands highest goes next. How high it stands is the user's priority and a step for each `aging` seconds that it has
waited, so that everybody rises above newcomers sometime; on one step the user goes first who has used least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

EVERYBODY = "*"
"""In `priorities`: whoever is not named."""
UNKNOWN_SECONDS = 3600.0
"""What a job that nobody can judge is taken to use, when its user's next one is compared with others'."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A waiting job, as far as the order asks.

    Attributes:
        devices: how many it wants; 0: none that others could want.
        seconds: how long it is expected to run; None: nobody knows.
        priority: its user's wish. Below 0 it lets others pass; above, it counts among its user's own jobs alone, which
            stand in their order already.
    """

    job: str
    devices: int = 1
    seconds: float | None = None
    priority: int = 0


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The waiting jobs of one store, in its user's order.

    Attributes:
        user: whose it is.
        name: tells a user's stores apart.
        since: when each of as many places was taken (seconds since the epoch), the oldest first. Places are the
            user's, whichever of his jobs takes one: an order among one's own changes nobody else's.
    """

    user: str
    name: str
    places: tuple[Place, ...] = ()
    since: tuple[float, ...] = ()


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What a place settles of the order.

    Attributes:
        priorities: user -> the larger the earlier; `*` for everybody who is not named.
        aging: seconds of waiting that count as one step of priority.
    """

    priorities: Mapping[str, int] = {}
    aging: float = 3600.0


class Ranked(NamedTuple):
    """A place in the merged order, and since when it counts as waiting."""

    line: Line
    place: Place
    since: float
    level: int


def ranked(lines: Iterable[Line], usage: Mapping[str, float], rules: Rules, now: float) -> list[Ranked]:
    """All places in order.

    Args:
        usage: user -> device-seconds so far, what is long past counting less.
        now: seconds since the epoch, by a clock that may have been set anew since a place was taken.
    """
    waiting = sorted((line for line in lines if line.places), key=lambda line: (line.user, line.name))
    oldest = _longest([since for line in waiting for since in line.since], now)
    used = {line.user: usage.get(line.user, 0.0) for line in waiting}
    heads = [0] * len(waiting)
    order: list[Ranked] = []
    while True:
        first: tuple[tuple[float, ...], int, Ranked] | None = None
        for number, line in enumerate(waiting):
            if heads[number] >= len(line.places):
                continue
            one = _at(line, heads[number], rules, now, oldest)
            key = (-one.level, used[line.user], one.since, number)
            if first is None or key < first[0]:
                first = (key, number, one)
        if first is None:
            return order
        _, number, one = first
        heads[number] += 1
        order.append(one)
        used[one.line.user] += one.place.devices * (UNKNOWN_SECONDS if one.place.seconds is None else one.place.seconds)


def level_of(user: str, place: Place, waited: float, rules: Rules) -> int:
    """How high a job stands."""
    own = rules.priorities.get(user, rules.priorities.get(EVERYBODY, 0))
    return own + min(0, place.priority) + int(max(0.0, waited) // rules.aging)


def _at(line: Line, number: int, rules: Rules, now: float, oldest: float) -> Ranked:
    since = line.since[number] if number < len(line.since) else now
    if since > now:  # the clock was set back since: it waits longer than whoever came afterwards
        since = now - oldest
    place = line.places[number]
    return Ranked(line, place, since, level_of(line.user, place, now - since, rules))


def _longest(times: Sequence[float], now: float) -> float:
    return max((now - since for since in times if since <= now), default=0.0)
