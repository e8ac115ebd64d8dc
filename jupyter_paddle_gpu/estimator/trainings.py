"""The trainings of a notebook: which one an estimate is of, and the list of them all. Sizes in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.estimates import Among, Estimate, Training
from ..domain.messages import Message
from ..domain.what_ifs import WHAT_IFS, EstimateRequest
from .memory.assemble import Peak
from .trace import Trace, TracedNote

SEVERAL = Message(
    code="several_trainings",
    text="The notebook holds {trainings} trainings; this is the one that needs most.",
    hint="Ask for another one with --training, or in the panel's list; a job is placed by the most.",
)
UNREACHED = Message(
    code="training_unreached",
    text="The training in cell {cell}, line {line} was not reached; what it needs is not known.",
    hint="It may hang on an open question, on a cell that fails before it, or on time.",
)
UNKNOWN = "training_unknown"
"""The tracer's note where it was told which training is changed, and there is none of that number."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A training with its peak, beside the list of all."""

    trace: Trace
    peak: Peak
    trainings: tuple[Training, ...]
    notes: tuple[Message, ...] = ()

    def on(self, estimate: Estimate, batch: int | None) -> Estimate:
        """The estimate of that training, with the list; `batch` is its batch size where the step tells none."""
        rows = [
            msgspec.structs.replace(row, batch_size=batch) if row.id == self.trace.id else row for row in self.trainings
        ]
        return msgspec.structs.replace(estimate, batch_size=batch, training=self.trace.id, trainings=tuple(rows))


def among(estimate: Estimate) -> Among | None:
    """The training that an estimate is of, among the others; None where there is one, or its place is not known."""
    own = next((row.where for row in estimate.trainings if row.id == estimate.training), None)
    if own is None or len(estimate.trainings) < 2:
        return None
    others = {row.where for row in estimate.trainings if row.where is not None} - {own}
    return Among(id=estimate.training or "", where=own, others=tuple(sorted(others, key=lambda at: (at.cell, at.line))))


def as_written(request: EstimateRequest) -> EstimateRequest:
    """The request without what changes the cells: it tells which training the changes are of."""
    left = {row.name: None for row in WHAT_IFS if row.in_jobs}
    return msgspec.structs.replace(of_figure(request), **left)


def of_figure(request: EstimateRequest) -> EstimateRequest:
    """The request without what only adds to the figure."""
    return msgspec.structs.replace(request, details=False, details_seconds=None)


def of_own_data(request: EstimateRequest) -> EstimateRequest:
    """The request without what gives the step other data than the notebook's, such as larger images."""
    return msgspec.structs.replace(request, **{row.name: None for row in WHAT_IFS if row.other_data})


def plain(request: EstimateRequest) -> EstimateRequest:
    """The request under which all trainings are traced, whichever is meant: one trace answers for each of them."""
    if any(row.looks_first and getattr(request, row.name) is not None for row in WHAT_IFS):
        return request
    return msgspec.structs.replace(request, training=None)


def chosen(trace: Trace, request: EstimateRequest, peak_of: Callable[[Trace], Peak]) -> Choice | None:
    """The training that is asked for, else the one that needs most; None where there is no figure for it."""
    if trace.status != "ok":
        return None
    seen = sorted((trace, *trace.others), key=lambda one: int(one.id))
    peaks = {one.id: peak_of(one) for one in seen}
    if request.training is None:
        found = max(seen, key=lambda one: peaks[one.id].allocated)
    else:
        named = [one for one in seen if one.id == request.training]
        if not named:
            return None
        found = named[0]
    rows = [
        Training(
            id=one.id,
            model=one.model,
            batch_size=one.batch_size,
            where=one.where,
            allocated_peak_bytes=peaks[one.id].allocated,
        )
        for one in seen
    ]
    for number, place in enumerate(trace.unreached, len(rows) + 1):
        rows.append(Training(id=str(number), model=None, batch_size=None, where=place))
    several = (SEVERAL.filled(trainings=len(rows)),) if len(rows) > 1 and request.training is None else ()
    # Where the cells stop is said beside it, and nothing has to be guessed.
    unreached = UNREACHED if trace.stop is None else msgspec.structs.replace(UNREACHED, hint="")
    left = (unreached.filled(cell=place.cell + 1, line=place.line) for place in trace.unreached)
    return Choice(trace=found, peak=peaks[found.id], trainings=tuple(rows), notes=(*several, *left))


def notes_of(trace: Trace, choice: Choice | None) -> tuple[TracedNote, ...]:
    """What is told of the run and of the training that was chosen, with nothing that is of another one alone."""
    if choice is None or choice.trace.id == trace.id:
        return trace.notes
    return (*(one for one in trace.notes if one not in trace.own_notes), *choice.trace.own_notes)


def unknown(asked: str, known: Iterable[str]) -> PaddleGpuError:
    """What is said to a choice that is none of the notebook's trainings: `no_such_training` (404)."""
    ids = tuple(known)
    return PaddleGpuError(
        "no_such_training",
        "There is no training {asked}; {seen} were found.",
        hint="Choose one of: {known}. An estimate without a choice lists them with their places.",
        status=404,
        asked=asked,
        seen=len(ids),
        known=", ".join(ids),
    )


def refusal(trace: Trace, asked: str) -> PaddleGpuError | None:
    """Why there is no answer for the training that is asked for; None where there is one, or nobody knows."""
    told = next((int(one.params["seen"]) for one in trace.notes if one.code == UNKNOWN), None)
    if told is None and trace.status != "ok":
        return None
    reached = 1 + len(trace.others) if told is None else told
    behind = {str(number): place for number, place in enumerate(trace.unreached, reached + 1)}
    if (place := behind.get(asked)) is not None:
        where = {"cell": place.cell + 1, "line": place.line}
        return PaddleGpuError(UNREACHED.code, UNREACHED.text, hint=UNREACHED.hint or "", status=422, **where)
    ids = (*(str(number + 1) for number in range(reached)), *behind)
    return None if asked in ids else unknown(asked, ids)
