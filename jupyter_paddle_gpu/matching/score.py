"""The score of devices: how well each serves the policy's aims, and a table that says so of every one.

An aim's value lies between 0 and 1; what cannot be told counts a half, so that a card that nobody knows is neither
favoured nor shunned. The score is the mean of the values by the policy's weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import msgspec

from ..devices.catalogue import covers, find
from ..domain.decisions import Decision, Need
from ..domain.devices import Device, DeviceHolder, DeviceLink, Joint, divided
from ..domain.learned import StepSeconds
from ..domain.messages import Message
from ..domain.placements import Aim, AimName, DeviceScore, Standing
from ..domain.sizes import human
from .candidates import is_excluded, is_failed, room_bytes
from .filters import price_of, ruled_out
from .learned.bandit import hopeful_seconds
from .offer import Offer
from .policy import Policy
from .seats import part_of, seat_of
from .shares import unfilled

UNKNOWN = 0.5
"""Value of an aim that cannot be told."""
MOST_GROUPS = 5000
"""Groups of cards that are compared; beyond, the best single cards are taken."""
JOINTS: Mapping[Joint, float] = {
    "nvlink": 1.0,
    "board": 0.8,
    "switch": 0.7,
    "switches": 0.5,
    "host_bridge": 0.4,
    "node": 0.25,
    "system": 0.0,
}
"""How well two cards that are joined so train together."""


class _Figures(msgspec.Struct, frozen=True, gc=False):
    """What is known of a device for a need. Costs are of a step, prices of an hour; `seconds` compare."""

    expected: StepSeconds | None
    seconds: float | None
    price: float | None
    cost: float | None
    room: int | None


class _Best(NamedTuple):
    """The best of each among the devices that are compared; None where nobody tells it."""

    seconds: float | None
    cost: float | None
    room: int | None


_Value = tuple[AimName, float, float | None]
"""An aim, its weight, and its value on a device; None: it cannot be told."""


def scores(
    need: Need | None,
    devices: Iterable[Device],
    policy: Policy,
    sharers: Mapping[str, Sequence[DeviceHolder]] | None = None,
) -> dict[str, float]:
    """Each device's score among these; relative aims (cost, time, balance) compare them with each other.

    Args:
        sharers: device id -> who has a share of it beside whom it is scored for.
    """
    return {device.id: _mean(values) for device, _, values in _judged(need, devices, policy, sharers)}


def _judged(
    need: Need | None,
    devices: Iterable[Device],
    policy: Policy,
    sharers: Mapping[str, Sequence[DeviceHolder]] | None = None,
) -> Iterator[tuple[Device, _Figures, list[_Value]]]:
    """Each device with its figures and what each aim is worth on it."""
    known, beside = list(devices), sharers or {}
    cards: dict[str, tuple[StepSeconds | None, float | None]] = {}  # what is the same for all of one name
    found = [_figures(need, device, policy, beside.get(device.id, ()), cards) for device in known]
    best = _Best(
        seconds=min((one.seconds for one in found if one.seconds), default=None),
        cost=min((one.cost for one in found if one.cost is not None), default=None),
        room=max((one.room for one in found if one.room), default=None),
    )
    for device, figures in zip(known, found, strict=True):
        yield device, figures, _values(device, figures, policy, best)


def best_group(
    ranked: Sequence[str], count: int, scored: Mapping[str, float], links: Iterable[DeviceLink], policy: Policy
) -> tuple[str, ...]:
    """The devices (of those in `ranked`, best first) that together serve best: their scores and how they are joined.

    A group is as well joined as its worst pair. Of equal groups the first in `ranked` is taken.
    """
    joints = {frozenset(link.devices): JOINTS[link.joint] for link in links}
    weight = policy.weights.topology
    if count < 2 or not joints or not weight or comb(len(ranked), count) > MOST_GROUPS:
        return tuple(ranked[:count])

    def worth(group: tuple[str, ...]) -> float:
        own = sum(scored[name] for name in group) / count
        joined = min(joints.get(frozenset(pair), 0.0) for pair in combinations(group, 2))
        return own + weight / (1 + weight) * joined

    return max(combinations(ranked, count), key=worth)


def table(
    need: Need | None,
    devices: Sequence[Device],
    policy: Policy,
    decision: Decision,
    *,
    offer: Offer,
    share: float | None = None,
) -> tuple[DeviceScore, ...]:
    """Every device: chosen, possible, or ruled out by what. The chosen ones first, then by score where the policy
    chooses by that; where it does not, none is told.

    Args:
        offer: who has which of them; `share`: of their memory, that is asked for (None: whole devices).
    """
    cut = divided(devices)
    sharers = {} if share is None else offer.shared
    offer = offer.whole() if share is None else offer
    reasons = {device.id: _out(need, device, policy, cut=cut, offer=offer, share=share) for device in devices}
    chosen = set(decision.device_ids) if decision.outcome == "run" else set()
    compared = [device for device in devices if reasons[device.id] is None]
    scored = {
        device.id: _scored(need, device, figures, values, policy)
        for device, figures, values in _judged(need, compared, policy, sharers)
    }
    rows = [_row(device, scored.get(device.id), reasons[device.id], chosen=device.id in chosen) for device in devices]
    order = {"chosen": 0, "possible": 1, "ruled_out": 2}
    return tuple(sorted(rows, key=lambda row: (order[row.state], -(row.score or 0.0))))


def _row(device: Device, found: DeviceScore | None, reason: Message | None, *, chosen: bool) -> DeviceScore:
    if found is None:
        found = DeviceScore(device_id=device.id, device_name=device.name, state="ruled_out", checked=device.checked)
    state: Standing = "chosen" if chosen else "possible" if reason is None else "ruled_out"
    reason = None if chosen else reason
    return msgspec.structs.replace(found, state=state, ruled_out=reason, device_title=device.title)


def _out(
    need: Need | None,
    device: Device,
    policy: Policy,
    *,
    cut: frozenset[str],
    offer: Offer,
    share: float | None,
) -> Message | None:
    """Why a device is not for this training now."""
    return _barred(device, policy, cut) or _occupied(need, device, policy, offer, share)


def _barred(device: Device, policy: Policy, cut: frozenset[str]) -> Message | None:
    """Whatever the training needs."""
    if device.simulated:
        return Message(code="simulated", text="It is simulated: shown for teaching, nothing can run on it.")
    if is_failed(device):
        return device.problem
    if device.id in cut:
        return Message(code="divided", text="This card is divided into slices (MIG); each slice is judged by itself.")
    if is_excluded(device, policy):
        return Message(code="excluded", text="The policy keeps it from being chosen by itself.", hint="Name it.")
    return ruled_out(device, policy)


def _occupied(need: Need | None, device: Device, policy: Policy, offer: Offer, share: float | None) -> Message | None:
    """By what this training needs, and by others."""
    taken, held = offer.taken, offer.held
    if share is None:
        seat = seat_of(need, device, policy)
    else:
        seat = part_of(need, device, policy, share, offer.shared.get(device.id, ()))
    fit = seat.fit
    if fit == "never":
        return Message(code="too_small", text="The training does not fit, even on the empty card.")
    if not seat.possible and seat.allowed is not None:
        return Message(
            code="may_be_too_small",
            text="The training may not fit, even on the empty card: that offers {allowed}.",
            hint="`plan_for: low` in the policy lets it try.",
            params={"allowed": human(seat.allowed)},
        )
    if device.id in taken:
        return Message(
            code="claimed", text="Job {job} has it, or waits for it.", params={"job": offer.called(taken[device.id])}
        )
    if (holder := held.get(device.id)) is not None:
        return Message(
            code="held",
            text="{job} of {owner} has it now." if holder.owner else "{job} has it now.",
            params={"job": holder.job, "owner": holder.owner},
        )
    if fit == "short" or (fit == "tight" and policy.plan_for == "high"):
        return Message(code="full", text="It has not enough free memory now.", hint="A job waits until it has.")
    return None


def _figures(
    need: Need | None,
    device: Device,
    policy: Policy,
    sharers: Sequence[DeviceHolder],
    cards: dict[str, tuple[StepSeconds | None, float | None]],
) -> _Figures:
    if (card := cards.get(device.name)) is None:
        seen = None if need is None else policy.experience.expect(need, device.name)
        card = cards[device.name] = (seen, price_of(device, policy))
    expected, price = card
    # Processes on one card compute by turns: a step takes longer by each who is there.
    seconds = None if expected is None else hopeful_seconds(expected) * (1 + len(sharers))
    cost = seconds * price / 3600 if seconds is not None and price is not None else None
    room = room_bytes(device, policy)
    planned = 0 if need is None else need.low if policy.plan_for == "low" else need.high
    left = None if room is None else max(0, room - unfilled(device, sharers) - planned)
    return _Figures(expected, seconds, price, cost, left)


def _values(device: Device, figures: _Figures, policy: Policy, best: _Best) -> list[_Value]:
    """What each aim that counts is worth on a device."""
    weights, found = policy.weights, list[_Value]()
    if best.cost is not None and weights.cost:
        cost = figures.cost
        found.append(("cost", weights.cost, None if cost is None else best.cost / cost if cost else 1.0))
    if best.seconds is not None and weights.time:
        found.append(("time", weights.time, best.seconds / figures.seconds if figures.seconds else None))
    if best.room is not None and weights.balance:
        found.append(("balance", weights.balance, None if figures.room is None else figures.room / best.room))
    if best.room is not None and weights.packing:
        found.append(("packing", weights.packing, None if figures.room is None else 1 - figures.room / best.room))
    if policy.preferred_devices and weights.preference:
        found.append(("preference", weights.preference, _wanted(device, policy.preferred_devices)))
    if policy.home_grown_first and weights.home_grown:
        row = find(device.name)
        found.append(("home_grown", weights.home_grown, float(row.domestic) if row is not None else None))
    return found


def _mean(values: Sequence[_Value]) -> float:
    """The score: the mean by weight."""
    total = met = 0.0
    for _, weight, value in values:
        total += weight
        met += weight * (UNKNOWN if value is None else value)
    return met / total if total else UNKNOWN


def _scored(
    need: Need | None, device: Device, figures: _Figures, values: Sequence[_Value], policy: Policy
) -> DeviceScore:
    """A row of the table."""
    return DeviceScore(
        device_id=device.id,
        device_name=device.name,
        checked=device.checked,
        state="possible",
        score=_mean(values) if policy.scored else None,
        aims=tuple(
            Aim(name=name, weight=weight, value=UNKNOWN if value is None else value, known=value is not None)
            for name, weight, value in values
            if policy.scored
        ),
        price=figures.price,
        currency=policy.currency if figures.price is not None else "",
        **_expectations(figures, None if need is None else need.steps),
    )


def _expectations(figures: _Figures, steps: int | None) -> dict[str, Any]:
    """What a row says of the seconds of a step, and of the whole run."""
    expected = figures.expected
    if expected is None:
        return {}
    run = None if steps is None else steps * expected.likely
    return {
        "seconds_per_step": expected.likely,
        "seconds_low": expected.low,
        "seconds_high": expected.high,
        "seconds_from": expected.source,
        "run_seconds": run,
        "run_cost": None if run is None or figures.price is None else run * figures.price / 3600,
    }


def _wanted(device: Device, preferred: Sequence[str]) -> float:
    """1 for the most wanted card, less for each behind it, 0 for one that is not in the list."""
    for place, name in enumerate(preferred):
        if covers(name, device.name):
            return 1 - place / len(preferred)
    return 0.0
