"""A loop that counts its own steps (`for step in range(100)`): with smaller batches it goes round more often."""

from __future__ import annotations

import ast

from .program import Program


def lengthen(program: Program, step: ast.stmt, times: int) -> None:
    """Have the loop around a step go round so many times as often, where its count is a number of its own.

    A loop over a loader, or one whose count is computed from the batch size, does so by itself; one that passes some
    of its rounds by counts something else (frames of a game).
    """
    count = _count(program, step)
    if count is None or not _is_fixed(program, count):
        return
    program.editable(count)
    program.cell_of(count).replace(count, f"{_as_factor(program, count)} * {times}")


def _count(program: Program, step: ast.stmt) -> ast.expr | None:
    """What says how often the innermost loop around a step goes round; None where it does not count from 0 on."""
    own = next((one for one in program.code.parents(step) if isinstance(one, (ast.For, ast.While))), None)
    loops = program.reader.enclosing_loops(step)
    around = own or (loops[0] if loops else None)
    if around is not None and any(isinstance(one, ast.Continue) for one in ast.walk(around)):
        return None
    match around:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[count], keywords=[])):
            return count
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), count], keywords=[])):
            return count
        case ast.While(test=ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[count])) as loop:
            return count if any(_counts(one, name) for one in loop.body) else None
    return None


def _counts(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.AugAssign(target=ast.Name(id=found), op=ast.Add(), value=ast.Constant(value=1)):
            return found == name
    return False


def _is_fixed(program: Program, expression: ast.expr) -> bool:
    """Whether a number is made of numbers that stand in the cells, and no part of another one: a batch's."""
    match program.names.origin(expression):
        case ast.Constant(value=int()):
            return program.names.evaluate(expression) is not None
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_fixed(program, left) and _is_fixed(program, right)
    return False


def _as_factor(program: Program, expression: ast.expr) -> str:
    text = program.text(expression)
    return f"({text})" if isinstance(expression, ast.BinOp) and not isinstance(expression.op, ast.Mult) else text
