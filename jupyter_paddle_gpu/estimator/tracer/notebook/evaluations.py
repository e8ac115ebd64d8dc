"""Whether a notebook evaluates and may keep what comes out of it, wherever its functions are defined and called."""

from __future__ import annotations

import ast
from typing import Any

from .syntax import children, nodes, parsed

_KEEPING = frozenset(("append", "extend", "insert", "concat", "stack"))
_NUMBERS = frozenset(("float", "int", "len", "str", "round", "item", "numpy", "tolist", "mean", "sum", "time"))
"""What makes a number or an array of numpy out of a tensor, where it is the whole of what is kept."""
_OF_TENSORS = frozenset(("mean", "sum"))


def keeps_results(cells: list[dict[str, Any]]) -> bool:
    """Whether code that belongs together through its calls both evaluates and may keep tensors.

    A cell, or a function, belongs together with the notebook's functions that it calls, directly or not.
    """
    functions: dict[str, list[ast.AST]] = {}
    for cell in cells:
        for node in nodes(cell["source"]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.setdefault(node.name, []).append(node)
    return any(_does_both(parsed(cell["source"]), functions) for cell in cells)


def _does_both(start: ast.AST, functions: dict[str, list[ast.AST]]) -> bool:
    waiting, seen = [start], {id(start)}
    evaluates = keeps = False
    while waiting and not (evaluates and keeps):
        for node in _own(waiting.pop()):
            evaluates = evaluates or _turns_off(node)
            keeps = keeps or _keeps(node)
            called = _called(node) if isinstance(node, ast.Call) else ""
            for function in functions.get(called, ()):
                if id(function) not in seen:
                    seen.add(id(function))
                    waiting.append(function)
    return evaluates and keeps


def _own(root: ast.AST) -> list[ast.AST]:
    """The nodes of a cell or a function; functions inside are looked at where they are called."""
    found, waiting = [], children(root)
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += children(node)
    return found


def _turns_off(node: ast.AST) -> bool:
    """`paddle.no_grad`, `model.eval()`."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _name(node) == "no_grad"
    return isinstance(node, ast.Call) and _called(node) == "eval" and isinstance(node.func, ast.Attribute)


def _keeps(node: ast.AST) -> bool:
    """Something that is no number is put into a collection or joined."""
    if isinstance(node, (ast.ListComp, ast.DictComp)):
        element = node.elt if isinstance(node, ast.ListComp) else node.value
        return isinstance(element, ast.Call) and _called(element) not in _NUMBERS
    if isinstance(node, ast.AugAssign):
        return isinstance(node.value, (ast.List, ast.ListComp))
    if not isinstance(node, ast.Call) or _called(node) not in _KEEPING:
        return False
    return any(not _is_number(argument) for argument in node.args)


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        return True
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) or _is_number(node.right)
    if not isinstance(node, ast.Call) or _called(node) not in _NUMBERS:
        return False
    return _called(node) not in _OF_TENSORS or _name(getattr(node.func, "value", node.func)) in {"np", "numpy"}


def _called(node: ast.Call) -> str:
    return _name(node.func)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
