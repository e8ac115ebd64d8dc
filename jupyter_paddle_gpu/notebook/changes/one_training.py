"""A notebook as one of its trainings sees it: what runs before it, without the other trainings.

Chapters of a notebook use the same names again (`model`, `optimizer`, `loader`); whoever changes one of its trainings
has to find those of that one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...domain.estimates import Among
from ...domain.notebooks import Place
from ..cells import ParsedCell
from ..code import Code

TRAINS = frozenset({"fit", "backward", "train_batch"})
"""Methods by which a step is taken."""


def seen_by(cells: tuple[ParsedCell, ...], among: Among | None) -> tuple[tuple[ParsedCell, ...], bool]:
    """The cells with what one training rests on, and whether that is less than all of them.

    What stands behind the training, the other trainings, and what earlier chapters bound to names that are bound anew
    before it are left out. Without a statement at its place (it is in another file) the cells stay.
    """
    if among is None or _statement(cells, among.where) is None:
        return cells, False
    others = {id(one) for place in among.others if (one := _statement(cells, place)) is not None}
    own = _statement(cells, among.where)
    kept: list[tuple[ParsedCell, list[ast.stmt]]] = []
    for cell in cells:
        if cell.tree is None or cell.cell.index > among.where.cell:
            continue
        body = [one for one in cell.tree.body if one is own or id(one) not in others]
        if cell.cell.index == among.where.cell and own in body:
            body = body[: body.index(own) + 1]
        kept.append((cell, body))
    _forget_rebound(kept)
    return tuple(cell._replace(tree=ast.Module(body=body, type_ignores=[])) for cell, body in kept), True


def has_several(cells: Iterable[ParsedCell]) -> bool:
    """Whether several statements of the notebook train, as far as reading tells."""
    known = tuple(cells)
    code = Code(known)
    training: set[str] = set()
    for call in code.of_type(ast.Call):
        if _steps(call):
            training.update(one.name for one in code.parents(call) if isinstance(one, ast.FunctionDef))
    for _ in range(len(training)):  # functions that call those
        for name in list(training):
            for function in code.functions.get(name, ()):
                callers = (one for call in code.calls_of(function) for one in code.parents(call))
                training.update(one.name for one in callers if isinstance(one, ast.FunctionDef))
    statements = (one for cell in known if cell.tree is not None for one in cell.tree.body)
    return sum(_trains(one, training) for one in statements) > 1


def _trains(statement: ast.stmt, functions: set[str]) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return False
    calls = (one for one in ast.walk(statement) if isinstance(one, ast.Call))
    return any(_steps(one) or _called(one) in functions for one in calls)


def _steps(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in TRAINS


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _statement(cells: Iterable[ParsedCell], place: Place) -> ast.stmt | None:
    """The cell's own statement around a line."""
    for cell in cells:
        if cell.cell.index == place.cell and cell.tree is not None:
            return next((one for one in cell.tree.body if one.lineno <= place.line <= (one.end_lineno or 0)), None)
    return None


def _forget_rebound(cells: list[tuple[ParsedCell, list[ast.stmt]]]) -> None:
    """Leave out assignments to names that a later statement binds anew, and calls of what they were bound to."""
    rebound: set[str] = set()
    for _, body in reversed(cells):
        for statement in list(reversed(body)):
            bound = set(_bound(statement))
            if (bound and bound <= rebound) or _receiver(statement) in rebound:
                body.remove(statement)
            elif not bound & set(_read(statement)):  # net = wrap(net) rests on the one before
                rebound |= bound
            else:
                rebound -= bound


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            yield from (part.id for part in parts if isinstance(part, ast.Name))


def _read(statement: ast.stmt) -> Iterator[str]:
    names = (one for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    return (one.id for one in names)


def _receiver(statement: ast.stmt) -> str:
    """`model` of a statement `model.prepare(…)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name
    return ""
