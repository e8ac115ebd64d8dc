"""Loops of a notebook: gone through again where accumulation wants more steps, left where the training is to go on
behind them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ...session import current
from ...step.changes import Changes
from ...step.steps import StepWatch

LOOP = "__loop__"
"""The name under which a notebook's loops find `loop`."""


def loop(items: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """What a loop of the notebook goes through.

    The loop that trains ends once its step was seen and an evaluation is to be reached; the loops around it, and later
    passes of the same one, do not.
    """
    session = current()
    if session is None:
        yield from items()
        return
    changes, watch = session.of(Changes), session.of(StepWatch)
    began, passes = changes.attempts, 0
    watch.loops += 1
    try:
        while True:
            iterator = iter(items())
            # No name holds the item here: it is to go when the program lets it go.
            while held := list(islice(iterator, 1)):
                before = watch.updates
                yield held.pop()
                if watch.loops > 1 and watch.may_leave(before):
                    with watch.leaving():  # what is gone through goes with its last name
                        del iterator
                    return
            passes += 1
            if not changes.wants_more(began, passes):
                return
    finally:
        watch.loops -= 1


class Loops(ast.NodeTransformer):
    """Sends every `for` of a notebook through `loop`."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for item in items:` as `for item in __loop__(lambda: items):`."""
        self.generic_visit(node)
        if not any(isinstance(part, _ONCE) for part in ast.walk(node.iter)):
            again = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.iter)
            node.iter = ast.copy_location(ast.Call(ast.Name(LOOP, ast.Load()), [again], []), node.iter)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A lambda does not see the names of a class: only its methods are rewritten."""
        node.body = [
            self.visit(part) if isinstance(part, (ast.FunctionDef, ast.ClassDef)) else part for part in node.body
        ]
        return node


_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
