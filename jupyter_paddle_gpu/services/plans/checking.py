"""What a sweep would be: its trials, and what each would come to before anything is submitted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

import msgspec

from ...domain.decisions import RefusedError
from ...domain.decoding import convert
from ...domain.errors import PaddleGpuError
from ...domain.messages import Message
from ...domain.notebooks import FactValue
from ...domain.plans import space
from ...domain.plans.space import Dimension
from ..requests import Submission
from .variables import resolved, settings_of
from .wanted import CheckedTrial, Prepared, SweepCheck, SweepRequest

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookSource
    from ..jobs.submitting import Settled

USUAL_TRIALS = 20
"""Of a search that could go on for ever."""
MOST_CORNERS = 16
"""Corners of a space that are checked for a search that decides as it goes."""
_change = msgspec.structs.replace


def prepared(source: NotebookSource, request: SweepRequest) -> Prepared:
    """The dimensions with the notebook's own names, and the values of the trials."""
    settings = settings_of(source)
    read = [space.parse(name, typed) for name, typed in request.space.items()]
    if not read:
        raise PaddleGpuError(
            "sweep_values",
            "No values to try were named.",
            hint="Name some for a variable of the notebook: `--set lr=0.1,0.01`.",
        )
    dimensions = tuple(resolved(one, settings) for one in read)
    names = [one.name for one in dimensions]
    if len(set(names)) < len(names):
        raise PaddleGpuError(
            "sweep_unknown", "Two of the names mean the same variable: {names}.", names=", ".join(names)
        )
    if request.search == "grid":
        every = space.grid(dimensions)  # refuses what has no steps
        wanted = space.size(dimensions) or 0
    else:
        wanted = min(request.trials or USUAL_TRIALS, space.size(dimensions) or space.MOST_TRIALS)
    if not (request.trials or wanted) >= 1 or wanted > space.MOST_TRIALS or (request.trials or 0) > space.MOST_TRIALS:
        raise PaddleGpuError(
            "sweep_size",
            "{asked} trials are not one sweep: it must be from 1 to {most}.",
            hint="Name fewer values, or take some of them: `--search random --trials 20`.",
            asked=max(wanted, request.trials or 0),
            most=space.MOST_TRIALS,
        )
    if request.search == "grid":
        values = list(every)[: request.trials]
        return Prepared(dimensions, values, len(values), corners=False)
    if request.search == "random":
        values = space.at_random(dimensions, wanted, request.seed)
        return Prepared(dimensions, values, len(values), corners=False)
    return Prepared(dimensions, _corners(dimensions), wanted, corners=True)


def _corners(dimensions: Sequence[Dimension]) -> list[dict[str, FactValue]]:
    """The ends of each dimension with those of every other: what needs most is among them."""
    ends: list[tuple[FactValue, ...]] = []
    for one in dimensions:
        if one.is_open:
            ends.append((one.low, one.high))
        elif all(isinstance(value, (int, float)) for value in one.values):
            numbers = sorted(one.values, key=lambda value: float(value or 0))
            ends.append(tuple(dict.fromkeys((numbers[0], numbers[-1]))))
        else:
            ends.append(one.values)
    names = [one.name for one in dimensions]
    return [dict(zip(names, values, strict=True)) for values in list(product(*ends))[:MOST_CORNERS]]


def of_trial(base: Submission, dimensions: Sequence[Dimension], values: dict[str, FactValue]) -> Submission:
    """What a trial is submitted with: what all have, and its own values. Nobody is told of it: a hundred trials are no
    hundred notices, and the sweep's own end is told."""
    asked = {one.name: values[one.name] for one in dimensions if one.what_if}
    answers = {one.name: values[one.name] for one in dimensions if not one.what_if}
    request = convert(
        {**msgspec.to_builtins(base.request), **asked, "answers": {**base.request.answers, **answers}},
        type(base.request),
    )
    return _change(base, request=request, notify=())


def checked(
    settle: Callable[[NotebookSource, Submission, bool], Settled],
    source: NotebookSource,
    request: SweepRequest,
    found: Prepared,
    at_once: int,
) -> SweepCheck:
    """Each trial settled as its submit would be. Those that differ in the learning rate alone take the same memory."""
    sizing = [one.name for one in found.dimensions if one.role != "learning_rate"]
    known: dict[tuple[FactValue, ...], CheckedTrial] = {}
    trials = []
    for number, values in enumerate(found.values, 1):
        key = tuple(values[name] for name in sizing)
        if key not in known:
            known[key] = _one(settle, source, of_trial(request.submission, found.dimensions, values))
        trials.append(_change(known[key], number=number, values=values))
    return SweepCheck(
        dimensions=found.dimensions,
        search=request.search,
        wanted=found.wanted,
        at_once=at_once,
        trials=tuple(trials),
        refused=sum(one.outcome == "refuse" for one in trials),
    )


def _one(
    settle: Callable[[NotebookSource, Submission, bool], Settled], source: NotebookSource, submission: Submission
) -> CheckedTrial:
    try:
        settled = settle(source, submission, True)
    except RefusedError as error:
        return CheckedTrial(number=0, values={}, outcome="refuse", why=error.message)
    except PaddleGpuError as error:
        return CheckedTrial(number=0, values={}, outcome="refuse", why=error.message)
    decision = settled.decision
    waits = decision.reason if decision.outcome == "wait" else None
    placed = settled.spec.estimated_peak_bytes
    return CheckedTrial(number=0, values={}, outcome=decision.outcome, why=waits, placed=placed)


def refusals(check: SweepCheck) -> PaddleGpuError:
    """Why the sweep is not begun: which trials fit nowhere, and the first one's reason."""
    refused = [one for one in check.trials if one.outcome == "refuse"]
    first = refused[0].why or Message(code="refused", text="It fits nowhere.")
    return PaddleGpuError(
        "trials_refused",
        "{count} of {total} trials fit nothing that is here, the first of them {values}: {why}",
        hint="Leave these values out, run only those that fit (`--skip`), or submit them all the same (`--anyway`).",
        status=409,
        count=len(refused),
        total=len(check.trials),
        values=space.told(refused[0].values),
        why=first,
    )
