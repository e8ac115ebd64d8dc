"""What differs between a notebook and its copy, cell by cell and as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ...domain.changes import ChangedCell
from ...domain.notebooks import NotebookSource
from .program import INJECTED, tags

CONTEXT = 2
"""Lines shown on either side of a change: a reader is to see where it stands."""


def cells_of(before: NotebookSource, after: NotebookSource) -> tuple[ChangedCell, ...]:
    """The cells that are not the same; the copy has at most some that the notebook has not."""
    return tuple(_differing(before, after))


def _differing(before: NotebookSource, after: NotebookSource) -> Iterator[ChangedCell]:
    old, new = before.content["cells"], after.content["cells"]
    if len(new) > len(old):
        place = next(index for index, cell in enumerate(new) if INJECTED in tags(cell))
        yield ChangedCell(cell=place - 1, before=None, after=new[place]["source"], tags=tuple(tags(new[place])))
        new = [*new[:place], *new[place + 1 :]]
    for index, (one, other) in enumerate(zip(old, new, strict=True)):
        if one["source"] != other["source"]:
            yield ChangedCell(cell=index, before=one["source"], after=other["source"])


def unified(cells: Iterable[ChangedCell], script: str = "") -> str:
    """A unified diff, one file a cell, named as a person counts them and in the order in which the copy has them; of a
    script by its file's name."""
    ordered = sorted(cells, key=lambda one: (one.cell, one.before is None))
    return "\n".join(line for cell in ordered for line in _lines(cell, script))


def _lines(cell: ChangedCell, script: str) -> Iterator[str]:
    name = script or (f"cell {cell.cell + 1}" if cell.before is not None else f"after cell {cell.cell + 1}")
    before = (cell.before or "").split("\n") if cell.before is not None else []
    yield from difflib.unified_diff(before, cell.after.split("\n"), name, name, lineterm="", n=CONTEXT)
