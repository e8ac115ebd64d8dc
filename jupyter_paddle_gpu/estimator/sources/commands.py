"""Commands of a notebook in the cells that are traced: each becomes a call that the tracer follows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...domain.notebooks import CodeCell, Command

CALL = "__command__"
"""The name under which the tracer has what runs a command."""
_STAND_IN = re.compile(r"(pass|None|#)$")


def with_commands(cell: CodeCell, commands: Iterable[Command]) -> str:
    """The cell's source with calls in place of what stands for its commands; no line moves."""
    own = [command for command in commands if command.cell == cell.index]
    if not own:
        return cell.source
    lines = cell.source.split("\n")
    for number in sorted({command.line for command in own}):
        calls = "; ".join(_call(command) for command in own if command.line == number)
        lines[number - 1] = _STAND_IN.sub("", lines[number - 1]) + calls
    return "\n".join(lines)


def _call(command: Command) -> str:
    asked = (command.kind, command.cell, command.line, command.path, command.arguments, command.folder)
    more = (command.ends, command.environment)
    told = (*asked, command.text, command.appends, *(more if any(more) else ()))
    return f"{CALL}({', '.join(map(repr, told))})"
