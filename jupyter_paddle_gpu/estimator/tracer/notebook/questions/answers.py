"""Answers in place of what a notebook assigns."""

from __future__ import annotations

import ast
from typing import Any


class Answers(ast.NodeTransformer):
    """Binds names to given values wherever they are assigned."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.used: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`name = ...`."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.answers:
            name = node.targets[0].id
            self.used.add(name)
            node.value = ast.copy_location(ast.Constant(self.answers[name]), node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`name: int = ...`."""
        if isinstance(node.target, ast.Name) and node.target.id in self.answers and node.value is not None:
            self.used.add(node.target.id)
            node.value = ast.copy_location(ast.Constant(self.answers[node.target.id]), node.value)
        return self.generic_visit(node)
