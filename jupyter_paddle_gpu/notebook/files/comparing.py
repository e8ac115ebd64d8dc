"""Where the code of two notebooks differs: cell by cell, cells that moved or are new included."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ...domain.changes import CellDifference
from ...domain.notebooks import NotebookSource

CONTEXT = 3
"""Lines shown on either side of a change."""
MOST_LINES = 2_000
"""Lines of all differences together; what two notebooks have otherwise beyond that nobody reads."""


def compare_code(before: NotebookSource, after: NotebookSource) -> tuple[CellDifference, ...]:
    """The code cells that differ, in the order of the second notebook."""
    old, new = _cells(before), _cells(after)
    texts = [text for _, text in old], [text for _, text in new]
    found, lines = list[CellDifference](), 0
    for one, other in _pairs(*texts):
        left, right = (old[one] if one is not None else None), (new[other] if other is not None else None)
        difference = _unified(left, right)
        lines += len(difference)
        if lines > MOST_LINES:
            break
        found.append(
            CellDifference(
                before=left[0] if left else None, after=right[0] if right else None, difference="\n".join(difference)
            )
        )
    return tuple(found)


def _cells(notebook: NotebookSource) -> list[tuple[int, str]]:
    return [
        (index, str(cell["source"]))
        for index, cell in enumerate(notebook.content["cells"])
        if cell.get("cell_type") == "code"
    ]


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[int | None, int | None]]:
    """Places of cells that are not the same. Where several stand against several, they are paired in their order."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for what, start, stop, other_start, other_stop in matcher.get_opcodes():
        if what == "equal":
            continue
        for offset in range(max(stop - start, other_stop - other_start)):
            one, other = start + offset, other_start + offset
            yield (one if one < stop else None), (other if other < other_stop else None)


def _unified(one: tuple[int, str] | None, other: tuple[int, str] | None) -> list[str]:
    lines = [cell[1].split("\n") if cell else [] for cell in (one, other)]
    return list(difflib.unified_diff(lines[0], lines[1], lineterm="", n=CONTEXT))[2:]
