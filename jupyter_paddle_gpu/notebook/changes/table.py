"""The table of changes: a what-if, and what it does to the cells of a job's copy."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

import msgspec

from ...domain.changes import Changes, Refusal
from ...domain.estimates import Among, BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import FactValue, NotebookSource
from ...domain.what_ifs import BY_NAME, IN_NO_CELL, WHAT_IFS, EstimateRequest
from ..files.scripts import is_script
from . import (
    accumulation,
    batch_size,
    distribution,
    literals,
    on_cpu,
    precision,
    recompute,
    set_to_zero,
    settings_files,
)
from .difference import cells_of, unified
from .program import Program, RefusedError, SharedLineError
from .shared_lines import apart

Change = Callable[[Program, EstimateRequest], None]

CHANGES: dict[str, Change] = {
    "batch_size": batch_size.change,
    "recompute": recompute.change,
    "accumulation": accumulation.change,
    "amp": precision.change,
    "set_to_zero": set_to_zero.change,
    "devices": distribution.change,
    "on_cpu": on_cpu.change,
}
"""By what-if, in the order in which they are made: each reads the cells as those before it left them."""
_UNCHANGED = tuple(row.name for row in WHAT_IFS if row.in_jobs and not row.follows and row.name not in CHANGES)
"""What-ifs of jobs that nothing in the table changes yet."""
OF_PADDLE = frozenset(CHANGES) - {"batch_size", "on_cpu"}
"""What is written in Paddle's own words: nothing of another framework's training becomes that."""
OF_ALL = frozenset(("on_cpu",))
"""What is changed of all trainings, also where one is chosen."""
FOLLOWING = {"batch_size": "accumulation"}
"""What is changed with another one, although nobody asked: an update is to see as many samples."""


class Rewritten(NamedTuple):
    """A notebook with changes in it.

    Attributes:
        source: the copy.
        made: the what-ifs that are in it.
        refused: those that are not, each with its reason.
        written: answers that name a number in a call.
        says: the same in words.
    """

    source: NotebookSource
    made: frozenset[str]
    refused: tuple[Refusal, ...]
    written: frozenset[str]
    says: tuple[Message, ...]


def rewritten(
    source: NotebookSource,
    request: EstimateRequest,
    *,
    but: Container[str] = (),
    places: tuple[BatchPlace, ...] = (),
    among: Among | None = None,
) -> Rewritten:
    """The notebook with what a request asks for.

    Args:
        but: what-ifs that are to be left alone.
        places: numbers that a trace has seen to size the batch, for a notebook that says it in no other way.
        among: of several trainings the one that is changed.
    """
    made, refused = set[str](), list[Refusal]()
    written = literals.Written(frozenset(), (), places)
    if request.answers:  # before all others: the places of their numbers are those of the notebook as it is
        try:
            program = Program(source, places)
            written = literals.change(program, request.answers)
            source = program.result() if written.says else source
        except RefusedError as error:
            refused.append(Refusal(change="answers", why=error.why))
        except RecursionError:
            refused.append(Refusal(change="answers", why=_TOO_DEEP))
    places = written.places
    if request.accumulation is not None and "accumulation" not in but:
        try:  # before batches are made smaller for it
            _changed("accumulation", source, (), among, request)
        except RefusedError as error:
            refused.append(Refusal(change="accumulation", why=error.why))
            request = msgspec.structs.replace(request, accumulation=None)
    for name in (*CHANGES, *_UNCHANGED):
        if name in but or not _is_asked(name, request):
            continue
        try:
            places_of, meant = places if name == "batch_size" else (), None if name in OF_ALL else among
            program, moved = _changed(name, source, places_of, meant, request)
            source = program.result()
            among = program.moved(among if meant is None else moved)
            made.add(name)
        except RefusedError as error:
            of = name if getattr(request, name) is not None else FOLLOWING.get(name, name)
            refused.append(Refusal(change=of, why=error.why))
            request = msgspec.structs.replace(request, **{name: None, FOLLOWING.get(name, name): None})
        except RecursionError:
            refused.append(Refusal(change=name, why=_TOO_DEEP))
    return Rewritten(source, frozenset(made), tuple(refused), written.names, written.says)


def changes(
    source: NotebookSource,
    request: EstimateRequest,
    places: tuple[BatchPlace, ...] = (),
    among: Among | None = None,
) -> tuple[NotebookSource, Changes]:
    """A job's copy of a notebook, and what is otherwise in it as a person reads that."""
    copy = rewritten(source, request, places=places, among=among)
    cells, files = cells_of(source, copy.source), settings_files.files_between(source, copy.source)
    says = tuple(
        BY_NAME[name].said(_as_it_runs(name, value, request))
        for name in CHANGES
        if name in copy.made and (value := getattr(request, name)) is not None
    )
    script = source.path.name if is_script(source.path) else ""
    return copy.source, Changes(
        says=(*copy.says, *says),
        cells=cells,
        files=files,
        difference="\n".join(filter(None, (unified(cells, script), settings_files.unified(files)))),
        refused=copy.refused,
        written=tuple(sorted(copy.written)),
    )


def without(request: EstimateRequest, made: Container[str], written: Container[str] = ()) -> EstimateRequest:
    """What of a request is still to be asked of the tracer.

    Args:
        made: the what-ifs that stand in the cells.
        written: the answers that do.
    """
    left = {
        name: None for name, row in BY_NAME.items() if (name in made or row.follows in made) and name not in IN_NO_CELL
    }
    answers = {name: value for name, value in request.answers.items() if name not in written}
    return msgspec.structs.replace(request, answers=answers, **left)


def _changed(
    name: str,
    source: NotebookSource,
    places: tuple[BatchPlace, ...],
    among: Among | None,
    request: EstimateRequest,
) -> tuple[Program, Among | None]:
    """The notebook with a change in it, and where the training stands before that: statements that share a line where
    the change goes are put apart first."""
    change = CHANGES.get(name, _unknown)
    while True:
        program = Program(source, places, among)
        program.in_python(of_paddle=name in OF_PADDLE)
        try:
            change(program, request)
        except SharedLineError as shared:
            if places:  # they are those of the notebook as it is
                raise
            program = Program(source)
            apart(program, shared)
            source, among = program.result(), program.moved(among)
        else:
            return program, among


def _as_it_runs(name: str, value: FactValue, request: EstimateRequest) -> FactValue:
    """A batch that is summed over several steps as one of them, and how many there are."""
    steps = request.accumulation or 1
    return f"{value // steps} × {steps}" if name == "batch_size" and steps > 1 and isinstance(value, int) else value


def _unknown(_program: Program, _request: EstimateRequest) -> None:
    raise RefusedError(_UNKNOWN)


def _is_asked(name: str, request: EstimateRequest) -> bool:
    also = FOLLOWING.get(name, name)
    return getattr(request, name) is not None or getattr(request, also) is not None


_UNKNOWN = Message(
    code="change_unknown",
    text="What is asked for cannot be written into the cells of a notebook, so a job cannot be run with it.",
    hint="Ask for it in an estimate, and change the notebook by hand.",
)
_TOO_DEEP = Message(
    code="notebook_too_deep",
    text="The code of this notebook is nested too deeply to be read.",
    hint="Split the longest expression of the notebook.",
)
