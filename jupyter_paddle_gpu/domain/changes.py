"""What a job's copy of a notebook has otherwise than the notebook, cell by cell, and what cannot be changed."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from .errors import PaddleGpuError
from .estimates import Among, BatchPlace
from .messages import Message
from .notebooks import NotebookFacts
from .what_ifs import EstimateRequest


class ChangedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell that is another one in the copy.

    Attributes:
        cell: index among all cells of the notebook; of a new cell, that of the cell it stands behind.
        before: its text in the notebook; None for a cell that is new.
        after: its text in the copy.
        tags: of a new cell.
    """

    cell: int
    before: str | None
    after: str
    tags: tuple[str, ...] = ()


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of settings of which a job has a copy of its own; the file itself stays as it is.

    Attributes:
        path: where the program looks for it.
        name: the same as it is shown, from the notebook's folder where it lies below that.
        before: what it holds.
        after: what the copy holds.
    """

    path: str
    name: str
    before: str
    after: str


class CellDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A code cell that two notebooks have differently.

    Attributes:
        before, after: its index among all cells of either; None where one has no such cell.
        difference: the lines as a unified diff, without the heading that names files.
    """

    before: int | None
    after: int | None
    difference: str


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A what-if that cannot be handed to a job, by name, with the reason and the next step."""

    change: str
    why: Message


class Seen(NamedTuple):
    """What traces of a notebook have found of its cells.

    Attributes:
        places: what sizes the batch, where the cells say it in no other way.
        among: of several trainings the one that is changed.
    """

    places: tuple[BatchPlace, ...] = ()
    among: Among | None = None


NOTHING_SEEN = Seen()


class Rewriting(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook with a request's changes in its cells, for an estimate of the program as it will run.

    Attributes:
        facts: of the changed notebook.
        request: what is left of the request for the tracer to do.
        made: the what-ifs that stand in the cells now.
        refused: those that do not.
    """

    facts: NotebookFacts
    request: EstimateRequest
    made: frozenset[str] = frozenset()
    refused: tuple[Refusal, ...] = ()


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What a request makes of a notebook.

    Attributes:
        says: what the job is run with, in words.
        cells: those that differ.
        files: those of which the job has a copy of its own.
        difference: the same as a unified diff, one file a cell.
        refused: what of the request is not in the copy.
        written: answers that stand in the cells of the copy, by name; the others are bound while it runs.
    """

    says: tuple[Message, ...] = ()
    cells: tuple[ChangedCell, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    difference: str = ""
    refused: tuple[Refusal, ...] = ()
    written: tuple[str, ...] = ()


def check_written(changes: Changes) -> None:
    """Refuse to write changes of which a part stands in a file that is no notebook: half of them is another program.

    Raises:
        PaddleGpuError: `settings_not_written` (409).
    """
    if changes.files:
        raise PaddleGpuError(
            "settings_not_written",
            "What changes stands in {path}; changes are written into notebooks only.",
            hint="Change it by hand, or submit with the change: a job's copy has it.",
            status=409,
            path=changes.files[0].name,
        )
