"""Nobody starves: while two people both wait, neither gets much more of the cards than the other.

The order and the turns are the queue's own, the clock is made up: what holds here holds however slow a machine is.
"""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.jobs.job import Job
from jupyter_paddle_gpu.jobs.scheduling.fairness import Line, Place, Rules, ranked

from .test_queue import job
from .test_timeline import plan

CARDS = 3
LONGEST = 50
Wish = tuple[str, int, int]
"""Who, how many cards, for how many seconds."""


class Shared:
    """Users with all their jobs there from the beginning, one store each."""

    def __init__(self, wishes: list[Wish]) -> None:
        self.wishes = {f"j{n}": wish for n, wish in enumerate(wishes)}
        self.waiting = list(self.wishes)
        self.running: dict[str, tuple[float, tuple[str, ...]]] = {}
        self.used: Counter[str] = Counter()
        self.now = 0.0

    def order(self) -> list[str]:
        """As everybody computes it."""
        users = sorted({self.wishes[name][0] for name in self.waiting})
        lines = []
        for user in users:
            mine = [name for name in self.waiting if self.wishes[name][0] == user]
            places = tuple(
                Place(job=name, devices=self.wishes[name][1], seconds=float(self.wishes[name][2])) for name in mine
            )
            lines.append(Line(user=user, name=user, places=places, since=(0.0,) * len(mine)))
        return [one.place.job for one in ranked(lines, self.used, Rules(), self.now)]

    def start(self) -> None:
        """Whoever may start now."""
        seconds = {name: float(wish[2]) for name, wish in self.wishes.items()}
        active = [
            msgspec.structs.replace(job(name, len(ids)), device_ids=ids, started=began, state="running")
            for name, (began, ids) in self.running.items()
        ]
        claims = {device: name for name, (_, ids) in self.running.items() for device in ids}
        queued: list[Job] = [job(name, self.wishes[name][1]) for name in self.order()]
        turns = plan(queued, active=active, claims=claims, seconds=seconds, cards=CARDS, now=self.now)
        for name, turn in turns.items():
            if turn.start:
                self.waiting.remove(name)
                self.running[name] = (self.now, turn.device_ids)

    def pass_time(self) -> None:
        """Until the next job ends."""
        until = min(began + self.wishes[name][2] for name, (began, _) in self.running.items())
        for name, (began, ids) in list(self.running.items()):
            self.used[self.wishes[name][0]] += round(len(ids) * (until - self.now))
            if began + self.wishes[name][2] <= until:
                del self.running[name]
        self.now = until

    def ahead(self) -> float:
        """By how many device-seconds the users who wait are apart, what they have begun counted whole."""
        begun = Counter(self.used)
        for name, (began, ids) in self.running.items():
            begun[self.wishes[name][0]] += round(len(ids) * (began + self.wishes[name][2] - self.now))
        had = [begun[user] for user in {self.wishes[name][0] for name in self.waiting}]
        return max(had) - min(had) if had else 0.0


WISHES = st.lists(
    st.tuples(st.sampled_from(["anna", "ben", "chen"]), st.integers(1, CARDS), st.integers(1, LONGEST)), max_size=24
)


@given(WISHES)
@settings(deadline=None, max_examples=60)
def test_who_waits_is_never_far_behind(wishes: list[Wish]) -> None:
    """The bound of start-time fair queueing (Goyal, Vin, Cheng 1996): one largest job of either."""
    shared = Shared(wishes)
    while shared.waiting:
        shared.start()
        assert shared.ahead() <= 2 * CARDS * LONGEST
        if shared.waiting:
            shared.pass_time()
