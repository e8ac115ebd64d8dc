"""Arguments of a call added, replaced and taken out by their names; layout and comments of all others stay."""

from __future__ import annotations

import ast
import re

from .edits import CellText

_COMMA = re.compile(r"[ \t]*,[ \t]*")


def add(cell: CellText, call: ast.Call, name: str, text: str) -> None:
    """Give a call one more argument by its name: in a line of its own where the last one has one."""
    source, end = cell.source, cell.span(call)[1] - 1
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not arguments:
        cell.insert(end, f"{name}={text}")
        return
    last = max(arguments, key=lambda one: (one.lineno, one.col_offset))
    begin, behind = cell.span(last)
    # A parenthesis around the last argument, and a comma behind it, belong to it.
    rest = source[behind:end]
    depth = len(rest) - len(rest.lstrip(") \t"))
    place = behind + depth if rest[:depth].count(")") else behind
    indentation = source[:begin].rsplit("\n", 1)[-1]
    line_end = source.find("\n", place, end)
    if last.lineno == call.lineno or indentation.strip(" \t"):
        cell.insert(place, f", {name}={text}")
    elif line_end < 0:
        cell.insert(place, f",\n{indentation}{name}={text}")
    elif _COMMA.match(source, place):
        cell.insert(line_end, f"\n{indentation}{name}={text},")
    else:
        cell.insert(place, ",")
        cell.insert(line_end, f"\n{indentation}{name}={text}")


def replace(cell: CellText, given: ast.keyword, text: str) -> None:
    """Write another argument in the place of one that is given by its name."""
    cell.put(*cell.span(given), text)


def remove(cell: CellText, given: ast.keyword) -> None:
    """Take out an argument that is given by its name, with its line where it has one of its own; a comment stays."""
    start, end = cell.span(given)
    source = cell.source
    comma = _COMMA.match(source, end)
    behind = comma.end() if comma else end
    line = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", behind)
    rest = source[behind:line_end].lstrip() if line_end >= 0 else ")"
    before = source[:start].rstrip(" \t")
    if not source[line:start].strip() and not rest:
        cell.put(line, line_end + 1, "")
    elif not source[line:start].strip() and rest.startswith("#"):
        cell.put(start, line_end - len(rest), "")
    elif before.endswith(","):
        cell.put(len(before) - 1, end, "")
    else:
        cell.put(start, behind, "")
