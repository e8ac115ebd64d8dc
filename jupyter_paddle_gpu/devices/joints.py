"""Which devices NVLink joins, in words: all of a group, or pair by pair where not each has one to each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from ..domain.devices import Device, DeviceLink
from ..domain.messages import Message
from ..domain.sizes import human

Pair = frozenset[str]


def joined(devices: Sequence[Device], links: Iterable[DeviceLink]) -> tuple[Message, ...]:
    """A sentence for each speed at which devices are joined by NVLink; empty where none are."""
    titles = {device.id: device.title for device in devices}
    by_speed: dict[float | None, set[Pair]] = defaultdict(set)
    for link in links:
        if link.joint == "nvlink" and all(one in titles for one in link.devices):
            by_speed[link.bandwidth].add(frozenset(link.devices))
    return tuple(_sentence(_groups(list(titles), pairs), titles, speed) for speed, pairs in by_speed.items())


def _groups(order: Sequence[str], pairs: set[Pair]) -> list[tuple[str, ...]]:
    """Devices of which each is joined to each other, in their order; every pair is within one group."""
    groups: list[tuple[str, ...]] = []
    left = set(pairs)
    for first in order:
        near = [one for one in order if frozenset((first, one)) in left]
        if not near:
            continue
        group = (first, *near)
        whole = all(frozenset(pair) in pairs for pair in combinations(group, 2))
        found = [group] if whole else [(first, one) for one in near]
        for one in found:
            left -= {frozenset(pair) for pair in combinations(one, 2)}
        groups += found
    return groups


def _sentence(groups: Sequence[tuple[str, ...]], titles: Mapping[str, str], speed: float | None) -> Message:
    params = {"devices": ", ".join(" + ".join(titles[one] for one in group) for group in groups)}
    if speed is None:
        return Message(code="nvlink", text="NVLink joins {devices}.", params=params)
    return Message(
        code="nvlink", text="NVLink joins {devices}: {speed}/s each way.", params={**params, "speed": human(speed)}
    )
