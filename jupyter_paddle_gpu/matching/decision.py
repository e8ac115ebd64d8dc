"""The one decision: what a training needs, what is here, what the place allows and what the person chose, in one value.

Panel, preflight, placement, submit and queue all ask `decide`; they differ in what they know to be taken just now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from ..domain.decisions import Choice, Decision, Need, Way
from ..domain.devices import Device
from ..domain.messages import Message
from ..domain.placements import Fit
from . import sentences, waiting
from .candidates import is_failed, usable
from .learned.bandit import why
from .offer import Kept, Offer
from .policy import Policy
from .score import best_group, scores
from .seats import Seat, parts_of, seat_of

_ORDER: dict[Fit, int] = {"fits": 0, "tight": 1, "unknown": 2, "short": 3, "never": 4}

MOST_TOLD = 3
"""Jobs of which it is told how long they have a device."""
ON_CPU = Way(change="gpus", gpus=0, message=sentences.WITHOUT_DEVICE, label=sentences.RUN_ON_CPU)
"""The way out of every wait."""
Ways = Callable[[int], tuple[Way, ...] | None]
"""What would fit into so many bytes; None where nobody looked for it."""


class _Case(NamedTuple):
    """What is asked about, with the devices that come into question, the best first.

    Attributes:
        wanted: how many devices.
        possible: those on which it may start when they are empty; `starting`: now.
    """

    need: Need | None
    offer: Offer
    choice: Choice
    policy: Policy
    wanted: int
    told: bool = True
    seats: Sequence[Seat] = ()
    possible: Sequence[Seat] = ()
    starting: Sequence[Seat] = ()

    def seated(self, seats: Sequence[Seat]) -> _Case:
        """The same, of these devices."""
        is_free = self.offer.is_free
        return self._replace(
            seats=seats,
            possible=[seat for seat in seats if seat.possible],
            starting=[seat for seat in seats if seat.starts and is_free(seat.device.id)],
        )


def decide(
    need: Need | None,
    offer: Offer,
    policy: Policy,
    choice: Choice,
    ways: Ways = lambda limit: None,
    *,
    smaller: Ways = lambda limit: None,
    host: int | None = None,
    told: bool = True,
) -> Decision:
    """What becomes of a training here and now.

    Args:
        need: of each of its devices; None: not known, then any device will do.
        choice: the person's; devices by their ids.
        ways: asked where it fits nowhere, with the bytes into which it would have to fit.
        smaller: asked where it has to wait for memory, with the bytes that are free now.
        host: bytes that a step takes of the machine's memory where it runs on the CPU.
        told: whether anybody reads more than the outcome and its reason; else there are no notes, and no ways out of a
            wait.
    """
    if choice.share is None and offer.shared:
        offer = offer.whole()
    case = _Case(need, offer, choice, policy, len(choice.device_ids) or choice.gpus or 1, told)
    if (reason := without_device(offer.devices, policy, choice)) is not None:
        return _on_cpu(case, reason, host, ways)
    decision = _of_devices(case, ways, smaller)
    # Rules make nobody wait for what could never be: a submit would refuse it all the same.
    kept = offer.rules(choice) if offer.rules is not None and decision.outcome != "refuse" else None
    return decision if kept is None else _kept(kept, choice)


def _of_devices(case: _Case, ways: Ways, smaller: Ways) -> Decision:
    """Of a training that is to have devices, whatever the place's rules say of now."""
    _, offer, choice, policy, *_ = case
    real = [device for device in offer.devices if not device.simulated]
    if choice.device_ids:
        here = {device.id: device for device in real}
        missing = [name for name in choice.device_ids if name not in here]
        if missing:
            return _unseen(case, missing, known=bool(real))
        candidates = [here[name] for name in choice.device_ids]
    else:
        candidates = _suited(real, offer, policy, case.wanted)
    case = case.seated(_seats(None if choice.anyway else case.need, candidates, policy, choice, offer))
    return _on_devices(case if choice.device_ids else _of_one_maker(case), ways, smaller)


def without_device(devices: Iterable[Device], policy: Policy, choice: Choice) -> Message | None:
    """Why a training runs on the CPU whatever it needs: it was chosen, or no device can be; None where one can."""
    if choice.device_ids or choice.gpus:
        return None
    if choice.gpus == 0:
        return sentences.NOT_GIVEN if choice.gives_none else sentences.ON_REQUEST
    real = [device for device in devices if not device.simulated]
    if usable(real, policy):
        return None
    return sentences.NONE_USABLE if real else sentences.NO_DEVICE


def openings(need: Need | None, offer: Offer, policy: Policy, choice: Choice) -> tuple[tuple[str, ...], frozenset[str]]:
    """Devices on which a training may start when they are empty, the best first, and those of them on which it may as
    they are, whoever else has them."""
    here = {device.id: device for device in offer.devices if not device.simulated}
    if choice.device_ids and not here:  # none is known: the engine judges the names
        return choice.device_ids, frozenset(choice.device_ids)
    count = len(choice.device_ids) or choice.gpus or 1
    # Of named ones that are gone no other takes the place.
    named = [here[name] for name in choice.device_ids if name in here]
    wanted = named if choice.device_ids else _suited(here.values(), offer, policy, count)
    case = _Case(need, offer, choice, policy, count)
    case = case.seated(_seats(None if choice.anyway else need, wanted, policy, choice, offer))
    seats = case.seats if choice.device_ids else _of_one_maker(case).seats
    possible = tuple(seat.device.id for seat in seats if seat.possible)
    return possible, frozenset(seat.device.id for seat in seats if seat.starts)


def _of_one_maker(case: _Case) -> _Case:
    """The same with the devices of one maker where several are to train together: those on which it starts now, else
    those on which it could; of equals the best first."""
    makers: dict[str, list[Seat]] = {}
    for seat in case.seats if case.wanted > 1 else ():
        makers.setdefault(seat.device.vendor, []).append(seat)
    if len(makers) < 2:
        return case

    def serves(one: _Case) -> tuple[bool, int, int]:
        wanted = one.wanted
        return len(one.starting) >= wanted, min(len(one.possible), wanted), min(len(one.seats), wanted)

    return max((case.seated(seats) for seats in makers.values()), key=serves)


def _suited(devices: Iterable[Device], offer: Offer, policy: Policy, count: int) -> list[Device]:
    """Those that may be chosen by themselves."""
    suits = offer.suits
    return usable(devices, policy, count) if suits is None else [one for one in devices if suits(one, count)]


def _on_cpu(case: _Case, reason: Message, host: int | None, ways: Ways) -> Decision:
    """Of a training without a device: it needs the machine's memory."""
    most = case.offer.memory
    if host is None or most is None or host <= most or case.choice.anyway:
        return Decision(outcome="cpu", reason=reason)
    found = ways(most)
    reason = sentences.step_too_large(host, most, found)
    return Decision(outcome="refuse", reason=reason, ways=found or (), searched=found is not None)


def _kept(kept: Kept, choice: Choice) -> Decision:
    """Of a training that the place's rules keep from devices."""
    if kept.hopeless:
        return Decision(outcome="refuse", reason=kept.reason, ways=(ON_CPU,), searched=True, final=True)
    return Decision(outcome="wait", reason=kept.reason, device_ids=choice.device_ids, ways=(ON_CPU,))


def _on_devices(case: _Case, ways: Ways, smaller: Ways) -> Decision:
    """Of a training for which devices come into question."""
    if len(case.possible) < case.wanted:
        return _impossible(case, ways)
    if case.offer.assigned and not case.choice.device_ids:
        return Decision(outcome="run", reason=sentences.ASSIGNED)
    best = _best(case)
    if len(best) < case.wanted:
        return _with_ways_out(case, _wait(case), smaller) if case.told else _wait(case)
    ids = case.choice.device_ids or tuple(seat.device.id for seat in best)
    parts = {seat.device.id: seat.part for seat in best}
    shares = tuple(part for name in ids if (part := parts[name]) is not None)
    if not case.told:
        return Decision(outcome="run", device_ids=ids, shares=shares, reason=_why(case, best))
    notes = (*(sentences.has_share(seat.device, seat.part) for seat in best[:1] if seat.part), *_learned(case, best))
    return Decision(outcome="run", device_ids=ids, shares=shares, reason=_why(case, best), notes=notes)


def _best(case: _Case) -> Sequence[Seat]:
    """Of the devices on which it may start now as many as are wanted: the first ones, or those that are joined best."""
    starting = case.starting
    joined = case.wanted > 1 and case.offer.links
    if not joined or not case.policy.scored or len(starting) < case.wanted:
        return starting[: case.wanted]
    free = {seat.device.id: seat for seat in starting}
    sharers = {} if case.choice.share is None else case.offer.shared
    scored = scores(case.need, [seat.device for seat in free.values()], case.policy, sharers)
    group = best_group(list(free), case.wanted, scored, case.offer.links, case.policy)
    return [free[name] for name in group]


def _seats(need: Need | None, devices: Sequence[Device], policy: Policy, choice: Choice, offer: Offer) -> list[Seat]:
    sharers = {} if choice.share is None else offer.shared
    if choice.share is None:
        seats = [seat_of(need, device, policy) for device in devices]
    else:
        seats = parts_of(need, devices, policy, choice.share, sharers)
    scored = scores(need, [seat.device for seat in seats if seat.starts], policy, sharers) if policy.scored else {}

    def order(one: Seat) -> tuple[float, float]:
        if (found := scored.get(one.device.id)) is None:
            return _preference(one, policy)
        return -found, -float(one.room or 0)  # of equals the emptiest

    seats.sort(key=lambda one: (not one.possible, _ORDER[one.fit], order(one), one.device.index))
    return seats


def _preference(seat: Seat, policy: Policy) -> tuple[float, float]:
    if seat.room is None:  # one that tells nothing comes last
        return float("inf"), 0.0
    room = float(seat.room)
    if seat.fit in ("fits", "unknown") and policy.prefer == "least_free":
        return room, 0.0
    if seat.fit in ("fits", "unknown") and policy.prefer == "fastest":
        return (float("inf") if seat.seconds is None else seat.seconds), -room
    return -room, 0.0  # where it is scarce, memory alone counts


def _why(case: _Case, best: Sequence[Seat]) -> Message:
    """Why it starts where it does."""
    if case.choice.anyway:
        return sentences.ANYWAY
    least, count = max(best, key=lambda one: (_ORDER[one.fit], one.room is None, -(one.room or 0))), len(best)
    if not case.choice.device_ids:
        untimed = case.policy.prefer == "fastest" and any(seat.seconds is None for seat in best)
        prefer = "score" if case.policy.scored else "" if untimed else case.policy.prefer
        barred = sum(not device.simulated for device in case.offer.devices) > len(case.seats)
        return sentences.chosen(
            least.device, least.fit, least.room, prefer=prefer, among=len(case.seats), barred=barred, count=count
        )
    if least.fit == "tight":
        return sentences.your_choice_tight(least.device, least.room or 0, count)
    return sentences.your_choice(least.device, count)


def _learned(case: _Case, best: Sequence[Seat]) -> tuple[Message, ...]:
    """What was learned of the devices that are chosen, where that decided, and what the rules would have chosen."""
    need, policy = case.need, case.policy
    if need is None or not policy.experience.active or case.choice.device_ids or case.choice.anyway:
        return ()
    known = [found for seat in case.starting if (found := policy.experience.expect(need, seat.device.name)) is not None]
    expected = policy.experience.expect(need, best[-1].device.name)
    if expected is None or expected.source != "learned":
        return ()
    notes = [why(expected, min(known, key=lambda one: one.likely, default=None))]
    ruled = msgspec.structs.replace(policy, experience=msgspec.structs.replace(policy.experience, active=False))
    devices = [seat.device for seat in case.seats]
    other = _best(case._replace(policy=ruled).seated(_seats(need, devices, ruled, case.choice, case.offer)))
    if other and other[0].device.name != best[0].device.name:
        notes.append(sentences.by_the_rules(other[0].device))
    return tuple(notes)


def _unseen(case: _Case, missing: Sequence[str], *, known: bool) -> Decision:
    """Of devices that were named and are not among those here.

    Args:
        known: whether there are others.
    """
    ids, names = case.choice.device_ids, case.choice.names
    missed = names.get(missing[0], missing[0])
    if known or case.offer.trouble is not None:
        reason = case.offer.trouble or sentences.gone(missed)
        return Decision(outcome="wait", reason=reason, device_ids=ids)
    if not case.offer.judged:
        if case.choice.anyway:
            return Decision(outcome="wait", reason=sentences.gone(missed), device_ids=ids)
        return Decision(outcome="refuse", reason=sentences.none_to_name(missed), ways=(ON_CPU,), searched=True)
    blocking = next(filter(None, (case.offer.blocking(one, names.get(one, "")) for one in ids)), None)
    if blocking is not None:
        return Decision(outcome="wait", reason=blocking, device_ids=ids)
    return Decision(outcome="run", reason=sentences.your_choice_unseen(missed), device_ids=ids)


def _impossible(case: _Case, ways: Ways) -> Decision:
    """Of a training that these devices could not serve if all of them were free."""
    need, count, seats = case.need, case.wanted, case.seats
    lost = (one.problem for one in case.offer.devices if is_failed(one) and not one.simulated)
    trouble = case.offer.trouble or next(lost, None)
    if trouble is not None and not case.choice.device_ids:  # what does not answer now may be what could
        return Decision(outcome="wait", reason=trouble)
    if case.choice.share is not None and len(seats) >= count:
        return Decision(outcome="refuse", reason=_share_impossible(case), searched=True)
    if len(seats) < count or need is None:
        # Of what may be chosen at all: what policy rules out is no reason.
        each = _suited((one for one in case.offer.devices if not one.simulated), case.offer, case.policy, 1)
        makers, slices = len({one.vendor for one in each}), any(one.parent is not None for one in each)
        reason = sentences.too_few(count, len(seats), makers=makers, slices=slices)
        return Decision(outcome="wait" if case.choice.anyway else "refuse", reason=reason)
    most = sorted((seat.allowed or 0 for seat in seats), reverse=True)[count - 1]
    found = ways(most)
    only = seats[0].device if case.choice.device_ids and count == 1 else None
    reason = sentences.fits_nowhere(need, most, count, found, only=only)
    return Decision(outcome="refuse", reason=reason, ways=found or (), searched=found is not None)


def _share_impossible(case: _Case) -> Message:
    """Why a share that was asked for is none of any device here."""
    parts = [(seat.device, seat.part) for seat in case.seats if seat.part is not None]
    if not parts:
        return sentences.NO_SHARES
    device, part = max(parts, key=lambda one: (one[1].bytes <= one[1].most, one[1].bytes))
    if part.bytes > part.most or case.need is None:
        return sentences.share_too_large(device, part)
    return sentences.share_too_small(case.need, device, part)


def _wait(case: _Case) -> Decision:
    """Of a training that could start if others left."""
    need, offer, choice, possible = case.need, case.offer, case.choice, case.possible
    expected = choice.device_ids or tuple(seat.device.id for seat in possible[: case.wanted])
    if (earlier := _behind(case)) and not choice.device_ids:
        return Decision(outcome="wait", reason=waiting.behind(offer.called(earlier)), device_ids=expected)
    failed = next((seat.device.problem for seat in possible if is_failed(seat.device)), None)
    if failed is not None:  # it was named: no other will do
        return Decision(outcome="wait", reason=failed, device_ids=expected)
    if choice.device_ids or len(possible) == case.wanted == 1:  # no other will do
        names = {seat.device.id: sentences.named(seat.device) for seat in possible if seat.device.id in expected}
        blocking = next(filter(None, (offer.blocking(one, names.get(one, "")) for one in expected)), None)
        if blocking is not None:
            return Decision(outcome="wait", reason=blocking, device_ids=expected)
    full = [seat for seat in possible if not seat.starts and offer.is_free(seat.device.id)]
    asked = None if need is None else need.high
    if full and full[0].part is not None:
        asked = full[0].part.bytes
    if asked is not None and full and (choice.device_ids or (case.wanted == 1 and len(full) == len(possible))):
        first, only = full[0], bool(choice.device_ids)
        reason = sentences.short(first.device, asked, first.room or 0, only=only)
        return Decision(outcome="wait", reason=reason, device_ids=choice.device_ids or (first.device.id,))
    holders = [offer.held[seat.device.id] for seat in possible if seat.device.id in offer.held]
    takers = [offer.jobs[job] for seat in possible if (job := offer.taken.get(seat.device.id, "")) in offer.jobs]
    owners = {one.owner for one in takers if not one.name and one.owner}
    others = sorted(owners | {holder.owner or holder.job for holder in holders})
    mine = any(one.name for one in takers)
    reason = waiting.too_few_free(case.wanted, len(case.starting), others, mine=mine)
    return Decision(outcome="wait", reason=reason, device_ids=expected)


def _behind(case: _Case) -> str:
    """The job ahead because of which it waits: one that waits for any device, or the one whose devices are lacking."""
    offer = case.offer
    if offer.ahead or not offer.kept:
        return offer.ahead
    alone = [seat for seat in case.seats if seat.starts and not offer.is_had(seat.device.id)]
    kept = (offer.kept[seat.device.id] for seat in alone if seat.device.id in offer.kept)
    return next(kept, "") if len(alone) >= case.wanted else ""


def _with_ways_out(case: _Case, decision: Decision, smaller: Ways) -> Decision:
    """A wait with what would start sooner, and until about when others have the devices that it waits for."""
    offer = case.offer
    jobs = {offer.taken[seat.device.id]: seat.device for seat in case.possible if seat.device.id in offer.taken}
    held = [(offer.held[seat.device.id], seat.device) for seat in case.possible if seat.device.id in offer.held]
    jobs.update({holder.job: device for holder, device in held})
    for seat in case.possible:
        jobs.update(dict.fromkeys((one.job for one in offer.shared.get(seat.device.id, ())), seat.device))
    known = sorted((offer.left[job], place, job) for place, job in enumerate(jobs) if job in offer.left)
    first: tuple[Way, ...] = ()
    told = [waiting.has_until(jobs[job], offer.called(job), left) for left, _, job in known]
    if len(told) > 1 and case.wanted == 1 and not case.choice.device_ids:
        # One that others wait for is free when they have had it.
        when = ((offer.after.get(jobs[job].id) if jobs[job].id in offer.kept else left, job) for left, _, job in known)
        soon = min(((left, place) for place, (left, _) in enumerate(when) if left is not None), default=None)
        if soon is not None:
            (left, place), job = soon, known[soon[1]][2]
            said = waiting.first_free(jobs[job], offer.called(job), left, kept=jobs[job].id in offer.kept)
            told.pop(place)
            told.insert(0, said)
            first = (_wait_for(jobs[job], left),)
    free = [seat.room or 0 for seat in case.possible if offer.is_free(seat.device.id)]
    full = case.need is not None and len(free) >= case.wanted and not offer.ahead
    found = smaller(sorted(free, reverse=True)[case.wanted - 1]) if full else ()
    ways = (*(found or ()), *first, ON_CPU)
    return msgspec.structs.replace(decision, notes=tuple(told[:MOST_TOLD]), ways=ways)


def _wait_for(device: Device, left: float) -> Way:
    """To wait for the device that is thought to be free first, and for no other."""
    label = waiting.wait_for(device, left)
    return Way(change="device", device_ids=(device.id,), message=label, label=label)
