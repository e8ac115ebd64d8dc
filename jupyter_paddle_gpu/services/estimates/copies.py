"""A job's copy of a notebook: the same cells, with what a request changes in them."""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import TYPE_CHECKING

import msgspec

from ...devices.makers.registry import has_bfloat16
from ...domain.changes import Changes, Rewriting, Seen
from ...domain.devices import Accelerator
from ...domain.estimates import Among, AnsweredFile, BatchPlace
from ...domain.notebooks import files_of
from ...domain.what_ifs import EstimateRequest

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookFacts, NotebookSource
    from ...estimator.advice.changed_steps import Rewrite


Cards = Collection[Accelerator]
"""Those of which a job may be given any."""


def settled(request: EstimateRequest, cards: Cards) -> EstimateRequest:
    """The request with the number format of its mixed precision: bfloat16 where each card has it, else float16. On a
    card without bfloat16 Paddle computes in float32 and only warns."""
    if request.amp in (None, "off") or request.amp_dtype is not None:
        return request
    every = bool(cards) and all(map(has_bfloat16, cards))
    return msgspec.structs.replace(request, amp_dtype="bfloat16" if every else "float16")


def rewriting(source: NotebookSource, facts: NotebookFacts, cards: Cards) -> Rewrite:
    """What an estimate asks for the notebook with changes; the last answer is remembered."""
    from ...notebook.changes.table import rewritten, without
    from ...notebook.inspection import inspect_notebook

    known: dict[tuple[str, ...], NotebookFacts] = {}

    def rewrite(
        request: EstimateRequest,
        told: Container[str] = (),
        places: tuple[BatchPlace, ...] = (),
        among: Among | None = None,
    ) -> Rewriting:
        request = settled(request, cards)
        copy = rewritten(source, request, but=told, places=places, among=among)
        if copy.source is source:
            changed = facts
        else:
            texts = (str(cell["source"]) for cell in copy.source.content["cells"])
            key = (*texts, *(part for one in files_of(copy.source.content).items() for part in one))
            changed = known.get(key) or inspect_notebook(copy.source)
            known.clear()
            known[key] = changed
        left = without(request, copy.made, copy.written)
        return Rewriting(facts=changed, request=left, made=copy.made, refused=copy.refused)

    return rewrite


def copied(
    source: NotebookSource,
    request: EstimateRequest,
    cards: Cards,
    seen: Seen,
    answered: tuple[AnsweredFile, ...],
) -> tuple[NotebookSource, Changes]:
    """The copy that a job is run with, and what is otherwise in it; what cannot be is refused in `Changes`."""
    from ...notebook.changes.settings_files import with_answered
    from ...notebook.changes.table import changes

    return with_answered(*changes(source, settled(request, cards), *seen), answered)


def are_values(request: EstimateRequest) -> bool:
    """Whether answers say more than what data looks like."""
    from ...notebook.answers import are_values

    return are_values(request.answers)


def refuses_batch(changes: Changes) -> bool:
    """Whether a copy cannot have the batch size that is asked for."""
    return any(one.change == "batch_size" for one in changes.refused)


def inspected(copy: NotebookSource) -> NotebookFacts:
    """What a reader finds in a copy."""
    from ...notebook.inspection import inspect_notebook

    return inspect_notebook(copy)


def trains_several_times(source: NotebookSource) -> bool:
    """Whether reading finds several statements that train: then only a trace tells which one is meant."""
    from ...notebook.cells import parsed_cells
    from ...notebook.changes.one_training import has_several

    return has_several(parsed_cells(source.content["cells"]))
