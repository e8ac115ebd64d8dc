"""The estimate that rests on reading alone: what was found, and no figure for the memory."""

from __future__ import annotations

from ..domain.estimates import Estimate, Status
from ..domain.messages import Message
from ..domain.mistakes.stops import Stop
from ..domain.notebooks import CELL_NOT_PYTHON, Fact, NotebookFacts
from ..domain.what_ifs import AmpLevel
from .trace import Trace


def scanned(facts: NotebookFacts, status: Status, *notes: Message) -> Estimate:
    """The notebook's facts in the shape of an estimate."""
    return Estimate(
        status=status,
        evidence="scan",
        notes=(*notes, *facts.problems),
        model=_text(facts.model),
        batch_size=_number(facts.batch_size),
        optimizer=_text(facts.optimizer),
        loss=_text(facts.loss),
        amp=_level(facts.amp),
        distribution=_text(facts.distribution),
    )


def behind_training(trace: Trace, facts: NotebookFacts) -> Stop | None:
    """Where the job would end behind the last training, which a trace does not follow: for want of a name, or in a cell
    that is no Python."""
    trained = [(one.where.cell, one.where.line) for one in (trace, *trace.others) if one.where is not None]
    stops = [
        Stop(cell=one.place.cell, line=one.place.line, error=f"NameError: name '{one.name}' is not defined")
        for one in facts.unbound
    ]
    known = {cell.index for cell in facts.cells if not cell.may_fail}
    for note in (note for note in facts.problems if note.code == CELL_NOT_PYTHON):
        cell, line = (int(str(note.params[name])) for name in ("cell", "line"))
        if cell - 1 in known:
            stops.append(Stop(cell=cell - 1, line=line, error=f"SyntaxError: {note.params['error']}"))
    behind = (one for one in stops if trained and (one.cell, one.line) > max(trained))
    return min(behind, key=lambda one: (one.cell, one.line), default=None)


def _text(fact: Fact | None) -> str | None:
    return str(fact.value) if fact and fact.value is not None else None


def _number(fact: Fact | None) -> int | None:
    return fact.value if fact and isinstance(fact.value, int) and not isinstance(fact.value, bool) else None


def _level(fact: Fact | None) -> AmpLevel | None:
    if fact is not None:
        for level in ("off", "O1", "O2"):
            if fact.value == level:
                return level
    return None
