"""What is told of a single training, with what its cells say of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..patches.data.loaders import LEFT
from .syntax import nodes

FEW_STEPS = "few_steps"
"""The note on a training of one step."""
_WELL = frozenset(("", "0", "None"))
"""What `exit()` ends a program with that has come to its end."""
_HOLDING = (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
_COLLECTS = frozenset(("append", "add", "appendleft", "extend", "insert", "setdefault"))
_GRAPH_STAYS = frozenset(("scale", "sum", "mean"))
"""Methods that losses go through on their way to a backward pass."""


def told(
    own: list[dict[str, Any]], failures: Sequence[dict[str, Any]], cells: Mapping[int, str]
) -> list[dict[str, Any]]:
    """The notes of a training.

    Args:
        own: as its step gives them.
        failures: what failed in cells.
        cells: their code by the numbers of cells.
    """
    placed = (_collected(cells, _cut(failures, note)) for note in own)
    return [_of_epochs(note) for note in placed if "loop_line" not in note["params"] or _is_anew(cells, note["params"])]


def _of_epochs(note: dict[str, Any]) -> dict[str, Any]:
    """A note without the places that tell of its loops."""
    return {"code": LEFT, "params": {"size": note["params"]["size"]}} if note["code"] == LEFT else note


def _is_anew(cells: Mapping[int, str], params: dict[str, Any]) -> bool:
    """Whether an iterator is made anew in each round of what holds a loop: the loop, or the function, around it."""
    holding = [node for node in nodes(cells.get(params["cell"], "")) if isinstance(node, _HOLDING)]
    around = [node for node in holding if node.lineno < params["loop_line"] <= (node.end_lineno or 0)]
    innermost = max(around, key=lambda node: node.lineno, default=None)
    return innermost is not None and innermost.lineno < params["line"] <= (innermost.end_lineno or 0)


def _cut(failures: Sequence[dict[str, Any]], note: dict[str, Any]) -> dict[str, Any]:
    """A note, or what ended the program where it tells of one step alone and an error came behind that."""
    if note["code"] != FEW_STEPS or not failures or "error" not in failures[0]["params"]:
        return note
    first = failures[0]
    if first["params"]["error"] == "SystemExit" and first["params"]["message"] in _WELL:
        return note
    error = f"{first['params']['error']}: {first['params']['message']}"
    return {"code": "step_cut", "params": {"cell": first["cell"] + 1, "line": first["line"], "error": error}}


def _collected(cells: Mapping[int, str], note: dict[str, Any]) -> dict[str, Any]:
    """A note on a loss that is kept, with the line that keeps it instead of the one of its backward pass, where the
    same cell has one: `losses.append(loss)`, `total += loss`."""
    params = note["params"]
    source = cells.get(params.get("cell", 0), "")
    if note["code"] != "graphs_kept" or not source:
        return note
    names = {name for node in nodes(source) for loss in _losses(node, params["line"]) for name in _named(loss)}
    keeps = [node.lineno for node in nodes(source) if isinstance(node, ast.stmt) and _keeps(node, names)]
    return {**note, "params": {**params, "line": keeps[0]}} if keeps else note


def _losses(node: ast.AST, line: int) -> Iterator[ast.expr]:
    """What a backward pass that stands in a line goes back from."""
    is_backward = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
    if is_backward and node.lineno <= line <= (node.end_lineno or 0):  # type: ignore[attr-defined]
        yield node.func.value  # type: ignore[attr-defined]


def _keeps(node: ast.stmt, names: set[str]) -> bool:
    """Whether a statement adds one of these to a list or to a sum as it is, and not a number of it."""
    if isinstance(node, ast.AugAssign):
        return not names.isdisjoint(_named(node.value))
    if isinstance(node, ast.Assign):
        targets = {name for target in node.targets for name in _named(target)} - names
        found = {*_named(node.value)}
        return isinstance(node.value, ast.BinOp) and not targets.isdisjoint(found) and not names.isdisjoint(found)
    call = node.value if isinstance(node, ast.Expr) else None
    collects = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _COLLECTS
    return collects and any(not names.isdisjoint(_named(one)) for one in call.args)  # type: ignore[union-attr]


def _named(node: ast.AST) -> Iterator[str]:
    """Names in an expression whose tensors are in its result, as far as it calls nothing."""
    if isinstance(node, ast.Name):
        yield node.id
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"scale", "sum", "mean"}
    ):
        for argument in (node.func.value, *node.args):
            yield from _named(argument)
    elif isinstance(node, (ast.BinOp, ast.Tuple, ast.List, ast.Subscript, ast.Dict)):
        for part in ast.iter_child_nodes(node):
            yield from _named(part)
