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
    own: list[dict[str, Any]], failures: Sequence[dict[str, Any]], cells: Mapping[int, str], step: dict[str, Any]
) -> list[dict[str, Any]]:
    """The notes of a training.

    Args:
        own: as its step gives them.
        failures: what failed in cells.
        cells: their code by the numbers of cells.
        step: what is told of its step.
    """
    own = [*own, *_unfrozen(cells, step)]
    placed = (_collected(cells, _cut(failures, note)) for note in own)
    return [_of_epochs(note) for note in placed if "loop_line" not in note["params"] or _is_anew(cells, note["params"])]


def _unfrozen(cells: Mapping[int, str], step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A note where layers are frozen at the step that a condition within a loop sets free."""
    trained, whole = step.get("trainable_parameters") or 0, step.get("parameters") or 0
    if trained >= whole:
        return
    functions = {name for source in cells.values() for name in _freeing(source)}
    for cell, source in cells.items():
        for line in _set_free(source, functions):
            params = {"cell": cell, "line": line, "trained": f"{trained:,}", "all": f"{whole:,}"}
            yield {"code": "unfrozen_later", "params": params}
            return


def _freeing(source: str) -> Iterator[str]:
    """Functions that set `stop_gradient` to False."""
    for one in nodes(source):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(map(_frees, ast.walk(one))):
            yield one.name


def _set_free(source: str, functions: set[str]) -> Iterator[int]:
    """Lines within a loop's conditions that set `stop_gradient` to False, or call one of these functions."""
    loops = [one for one in nodes(source) if isinstance(one, (ast.For, ast.While))]
    for condition in (one for loop in loops for one in ast.walk(loop) if isinstance(one, ast.If)):
        for one in (part for statement in (*condition.body, *condition.orelse) for part in ast.walk(statement)):
            name = getattr(one.func, "attr", getattr(one.func, "id", "")) if isinstance(one, ast.Call) else ""
            if _frees(one) or name in functions:
                yield one.lineno  # type: ignore[attr-defined]


def _frees(node: ast.AST) -> bool:
    """`parameter.stop_gradient = False`"""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant) or node.value.value is not False:
        return False
    return any(isinstance(one, ast.Attribute) and one.attr == "stop_gradient" for one in node.targets)


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
