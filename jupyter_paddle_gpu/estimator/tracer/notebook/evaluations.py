"""Whether a notebook may keep tensors behind an epoch: what comes out of an evaluation, the best parameters, those of a
file, wherever its functions are defined and called."""

from __future__ import annotations

import ast
from typing import Any

from .syntax import children, nodes, parsed

_KEEPING = frozenset(("append", "extend", "insert", "concat", "stack"))
_COPYING = frozenset(("clone", "deepcopy"))
"""What is called to keep the best parameters so far, or a teacher's."""
_LOADING = frozenset(("set_state_dict", "set_dict", "load_dict"))
EPOCHS, MOST = 3, 8
"""Epochs in which what is kept of parameters is looked for; those of a list."""
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_NUMBERS = frozenset(("float", "int", "len", "str", "round", "item", "numpy", "tolist", "mean", "sum", "time"))
"""What makes a number or an array of numpy out of a tensor, where it is the whole of what is kept."""
_OF_TENSORS = frozenset(("mean", "sum"))


def rounds_behind(cells: list[dict[str, Any]]) -> int:
    """How many epochs behind the first one a step is taken from; 0 where the first one stands for all.

    One where code that belongs together through its calls both evaluates and may keep tensors, some where it goes
    through epochs and copies or loads parameters in them, and as many as there are where a list says the sizes of each.
    A cell, or a function, belongs together with the notebook's functions that it calls, directly or not.
    """
    functions: dict[str, list[ast.AST]] = {}
    for cell in cells:
        for node in nodes(cell["source"]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.setdefault(node.name, []).append(node)
    return max((_rounds(parsed(cell["source"]), functions) for cell in cells), default=0)


def _rounds(start: ast.AST, functions: dict[str, list[ast.AST]]) -> int:
    waiting, seen, listed = [(start, False)], {(id(start), False)}, 0
    evaluates = keeps = has_epochs = copies = False
    while waiting:
        outer, is_repeated = waiting.pop()
        own = _own(outer)
        # What is copied once, before the epochs or behind them, is not kept of each.
        repeated = {id(part) for one in own if isinstance(one, _LOOPS) for part in _own(one)}
        for node in own:
            evaluates = evaluates or _turns_off(node)
            keeps = keeps or _keeps(node)
            is_again = is_repeated or id(node) in repeated
            copies = copies or (is_again and isinstance(node, ast.Call) and _called(node) in _COPYING | _LOADING)
            if isinstance(node, _LOOPS) and _has_loop(node, functions):
                has_epochs, listed = True, max(listed, _listed(node))
            called = _called(node) if isinstance(node, ast.Call) else ""
            for function in functions.get(called, ()):
                if (id(function), is_again) not in seen:
                    seen.add((id(function), is_again))
                    waiting.append((function, is_again))
    return max(evaluates and keeps, EPOCHS * (has_epochs and copies), listed)


def _listed(loop: ast.AST) -> int:
    """Rounds behind the first one of a loop over a list of sizes that trains in each with the same optimizer."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, (ast.List, ast.Tuple)):
        return 0
    inside = [node for child in loop.body for node in (child, *_own(child))]
    trains = any(isinstance(node, ast.Call) and _called(node) == "backward" for node in inside)
    makes = any(isinstance(node, ast.keyword) and node.arg == "parameters" for node in inside)
    is_of_sizes = all(isinstance(part, (ast.Constant, ast.Tuple)) for part in loop.iter.elts)
    return min(MOST, len(loop.iter.elts) - 1) if trains and is_of_sizes and not makes else 0


def _has_loop(loop: ast.AST, functions: dict[str, list[ast.AST]]) -> bool:
    """Whether a loop has another one in it, or calls a function that has one."""
    inside = [node for child in children(loop) for node in (child, *_own(child))]
    called = [one for node in inside if isinstance(node, ast.Call) for one in functions.get(_called(node), ())]
    return any(isinstance(node, _LOOPS) for node in (*inside, *(part for one in called for part in _own(one))))


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
    if isinstance(node, ast.Call) and _called(node) in _COPYING:
        return True
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
