"""Statements of one line (`loss.backward(); opt.step()`, `for x in data: opt.step()`) put into lines of their own."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

from .edits import CellText
from .program import Program, SharedLineError

_BEFORE = re.compile(r"([ \t]|\\\n)*\Z")
"""White space in front of a statement, which may begin in the line above."""
_BETWEEN = re.compile(r"[ \t]*;[ \t]*(\\\n[ \t]*)*")
"""What stands between two statements of a line, which may go on in the next one."""


def apart(program: Program, shared: SharedLineError) -> None:
    """Put the statements around the one that was refused into lines of their own, as far to the right as their block.

    Raises:
        SharedLineError: nothing can be put apart there.
    """
    at = shared.at
    statement = next((one for one in program.code.of_type(ast.stmt) if program.code.position(one) == at), None)
    if statement is None:
        raise shared
    cell, run = program.cell_of(statement), _run(program, statement)
    start, _ = cell.span(run[0])
    before = _BEFORE.sub("", cell.source[:start])
    begins_line = not before or before.endswith("\n")
    header = cell.source[:start].rsplit("\n", 1)[-1] if begins_line else before.rsplit("\n", 1)[-1]
    indentation = header[: len(header) - len(header.lstrip())]
    if not begins_line:  # but in the line of what the block belongs to
        indentation += cell.step
        cell.put(len(before), start, f"\n{indentation}")
    for above, below in pairwise(run):
        cell.put(cell.span(above)[1], cell.span(below)[0], f"\n{indentation}")
    end = cell.span(run[-1])[1]
    rest = cell.source[end:].split("\n", 1)[0]
    if rest.lstrip(" \t").startswith(";"):
        comment = rest.lstrip(" \t;")
        cell.put(end, end + len(rest) - len(comment), "  " if comment else "")
    if not cell.edits:
        raise shared


def _run(program: Program, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a block that share lines with one another around one of them."""
    cell, block = program.cell_of(statement), program.block(statement)
    first = last = block.index(statement)
    while first and _share(cell, block[first - 1], block[first]):
        first -= 1
    while last + 1 < len(block) and _share(cell, block[last], block[last + 1]):
        last += 1
    return block[first : last + 1]


def _share(cell: CellText, above: ast.stmt, below: ast.stmt) -> bool:
    return _BETWEEN.fullmatch(cell.source[cell.span(above)[1] : cell.span(below)[0]]) is not None
