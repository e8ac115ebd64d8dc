"""How the cells use a live model: what they call it with, by which loss, and with which batch size they train it.

Only names and constants are read: no cell runs again, and no attribute but a module's own is looked up.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import msgspec

from ..domain.parsing import parse
from ..notebook.cells import mask


class Calls(msgspec.Struct):
    """What was found; empty or None where the cells do not say it by names that the kernel holds."""

    inputs: tuple[Any, ...] = ()
    labels: tuple[Any, ...] = ()
    loss: Any = None
    data: Any = None
    batch_size: int | None = None


def calls_of(model: str, texts: Iterable[str], names: Mapping[str, Any]) -> Calls:
    """What the newest cells say that call the model of that name.

    Args:
        texts: of cells, the oldest first.
        names: the kernel's.
    """
    found = Calls()
    for text in reversed(list(texts)):
        tree = parsed(text)
        if tree is None:
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if _is_name(call.func, model) and not found.inputs:
                found.inputs = _values(call.args, names) or ()
            elif isinstance(call.func, ast.Attribute) and call.func.attr == "fit" and _is_name(call.func.value, model):
                _take_fit(found, call, names)
        if found.loss is None:
            _take_loss(found, tree, model, names)
        if found.inputs and found.loss is not None:
            break
    return found


def _take_fit(found: Calls, call: ast.Call, names: Mapping[str, Any]) -> None:
    """`model.fit(train_data, eval_data, batch_size, …)` of `paddle.Model`."""
    given = dict(zip(("train_data", "eval_data", "batch_size"), call.args, strict=False))
    given.update({one.arg: one.value for one in call.keywords if one.arg})
    size = _value(given.get("batch_size"), names)
    if found.batch_size is None and type(size) is int:
        found.batch_size = size
    if found.data is None:
        found.data = _value(given.get("train_data"), names)


def _take_loss(found: Calls, tree: ast.Module, model: str, names: Mapping[str, Any]) -> None:
    """The call that the model's output goes into first, with what else goes into it by name."""
    outputs = {name for node in ast.walk(tree) for name in _assigned(node, model)}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        first = call.args[0]
        is_output = isinstance(first, ast.Name) and first.id in outputs
        if not (is_output or (isinstance(first, ast.Call) and _is_name(first.func, model))) or len(call.args) < 2:
            continue
        loss = _value(call.func, names)
        if not callable(loss) or any(not isinstance(one.value, ast.Constant) for one in call.keywords):
            continue
        fixed = {one.arg: one.value.value for one in call.keywords if one.arg and isinstance(one.value, ast.Constant)}
        found.loss = functools.partial(loss, **fixed) if fixed else loss
        found.labels = _values(call.args[1:], names) or ()
        return


def _assigned(node: ast.AST, model: str) -> Iterator[str]:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_name(node.value.func, model):
        yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def _values(nodes: Iterable[ast.expr], names: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The values of plain names; None where one of them is no name that the kernel holds."""
    found = [_value(node, names) for node in nodes]
    return None if any(value is None for value in found) else tuple(found)


def _value(node: ast.expr | None, names: Mapping[str, Any]) -> Any:
    """Of a name, a constant, or something in a module; else None."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, names)
        return vars(owner).get(node.attr) if isinstance(owner, ModuleType) else None
    return None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def parsed(text: str) -> ast.Module | None:
    """A cell's code without its magics; None where it is no Python."""
    try:
        return parse(mask(text)[0])
    except (SyntaxError, ValueError):
        return None
