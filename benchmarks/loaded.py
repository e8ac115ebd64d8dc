"""A program that draws its data in its loop, with a DataLoader that loads it, as its users' notebooks have it.

Several processes can be given their part of what a loader loads, not of what each of them draws.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

DRAWS = frozenset(
    {"rand", "randn", "randint", "uniform", "normal", "standard_normal", "randperm", "ones", "zeros", "full"}
)
BATCHES = 24
"""How many the data set holds."""


class Drawn(NamedTuple):
    """What a loop draws at its head: its names, their statements, and what stands for the batch in all their shapes."""

    names: list[str]
    statements: list[ast.Assign]
    batch: str


def loaded(source: str) -> str | None:
    """The program with what its loop draws first loaded instead; None where that draws nothing of one batch."""
    tree = ast.parse(source)
    top = next((node for node in reversed(tree.body) if _trains(node)), None)
    loop = top
    while isinstance(loop, ast.For) and not isinstance(loop.body[0], ast.Assign):
        loop = next((node for node in reversed(loop.body) if _trains(node)), None)
    if not isinstance(top, ast.For) or not isinstance(loop, ast.For):
        return None
    drawn = _drawn(loop)
    if not drawn.names:
        return None
    lines, first, last = source.split("\n"), loop.lineno - 1, drawn.statements[-1].end_lineno or loop.lineno
    names = ", ".join(drawn.names) + ","
    head = f"for {ast.unparse(loop.target)}, ({names}) in enumerate(loader):"
    lines[first:last] = [" " * loop.col_offset + head]
    bodies = [ast.get_source_segment(source, statement) or "" for statement in drawn.statements]
    data = [
        "def _draw():",
        *("    " + line for body in bodies for line in body.split("\n")),
        f"    return {names}",
        "class Drawn(paddle.io.Dataset):",
        "    def __init__(self):",
        f"        drawn = zip(*[_draw() for _ in range({BATCHES})])",
        "        self.parts = [paddle.concat(part).numpy() for part in drawn]",
        "    def __getitem__(self, index):",
        "        return tuple(part[index] for part in self.parts)",
        "    def __len__(self):",
        "        return len(self.parts[0])",
        f"loader = paddle.io.DataLoader(Drawn(), batch_size={drawn.batch})",
    ]
    lines[top.lineno - 1 : top.lineno - 1] = data
    return "\n".join(lines)


def _trains(node: ast.stmt) -> bool:
    return isinstance(node, ast.For) and ".backward()" in ast.unparse(node)


def _drawn(loop: ast.For) -> Drawn:
    """The loop's first statements, as far as each draws by itself and with the same size first."""
    found = Drawn([], [], "")
    counted = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    for statement in loop.body:
        pairs = _pairs(statement)
        sizes = {_first_size(value, counted | set(found.names)) for _, value in pairs}
        batch = found.batch or next(iter(sizes), None)
        if not isinstance(statement, ast.Assign) or batch is None or sizes != {batch}:
            break
        names = [*found.names, *(name for name, _ in pairs)]
        found = Drawn(names, [*found.statements, statement], batch)
    return found


def _pairs(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """Names and what they are bound to, of an assignment to one name or of as many values to as many."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return []
    named = [one.id for one in target.elts if isinstance(one, ast.Name)]
    return list(zip(named, value.elts, strict=True)) if len(named) == len(value.elts) else []


def _first_size(value: ast.expr, counted: set[str]) -> str | None:
    """What stands first in the shape that a value is drawn with; None where it is not, or by what stands before."""
    if counted & {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}:
        return None
    if any(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) for node in ast.walk(value)):
        return None  # of a model, not of the data
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DRAWS:
            shape = next((one for one in ast.walk(node) if isinstance(one, ast.List) and one.elts), None)
            return ast.unparse(shape.elts[0]) if shape is not None else None
    return None
