"""What a cell's statement makes of data that is not here, as far as its own code says it.

`padded.append([vocabulary[word] for word in sentence + ["<pad>"] * (10 - len(sentence))])` gives rows of ten numbers,
whatever the sentences are. A statement that failed for want of its data, or of which came data of unknown content, is
run once more with made-up data in two variants (`undecided/variants`), with names of its own; what it binds alike in
both is known (`undecided/rows`).
"""

from __future__ import annotations

import ast
import copy
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import paddle

from ... import own_faults
from ...patches.environment import DownloadNeeded
from ...session import Session
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.needs import BatchNeeded
from ...undecided.rows import UnseenList, UnseenRows, alike
from ...undecided.variants import PAIRS, Variant, Variants, tidied
from ..sites import Sites
from . import absorbing, statements

MOST = 4_000
"""Items that are made up for one statement: rows say what they look like after a few."""
SECONDS = 3.0
"""Of the processor's time for all statements of a notebook."""
DEAR = 0.5
"""Of the processor's time for a statement that told nothing: it is not tried again in this notebook's further runs
that know no more answers."""
_MOST_LOOKED_AT = 100
"""Things that a container holds."""
_MOST_COPIED = 100_000
"""Entries of a container that is copied for a variant."""
_OR_UNSEEN = "__or_unseen__"
"""The name under which a statement finds `_or_unseen`."""
_TAKEN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With, ast.If, ast.While)


class Spent:
    """What it has cost so far to find out about a notebook's data."""

    def __init__(self) -> None:
        self.seconds = 0.0


class Surmises:
    """Finds out what the statements of a notebook make of data that is not here.

    Args:
        sites: where it may train: what holds a training is not run for this.
        answers: names that they bind are not looked at.
        is_on: whether it does; else nothing is found out.
    """

    def __init__(self, session: Session, sites: Sites, answers: Mapping[str, Any], *, is_on: bool) -> None:
        self._session, self._sites, self._answers, self._is_on = session, sites, answers, is_on
        self._spent = session.of(Spent)

    def before(self, statement: ast.stmt, namespace: dict[str, Any]) -> dict[str, Any]:
        """What a statement binds or fills, as it is now."""
        if not self._is_on:
            return {}
        found = {name: namespace[name] for name in statements.bound_by(statement) if name in namespace}
        if self._sites.held(statement).trains:  # it frees what an earlier training left under these names
            found = {name: value for name, value in found.items() if not _is_of_paddle(value)}
        return {name: _kept(value) for name, value in found.items()}

    def of(
        self, statement: ast.stmt, namespace: dict[str, Any], before: dict[str, Any], *, failed: bool
    ) -> dict[str, Any]:
        """What a statement that ran, or failed, makes of data that is not here, by name.

        Args:
            namespace: of the notebook.
            before: what the statement binds, as it was before it ran.
        """
        if not self._is_on or not isinstance(statement, _TAKEN):
            return {}
        open_still = [
            name
            for name in statements.bound_by(statement)
            if name not in self._answers and (failed or type(namespace.get(name)) is Unseen)
        ]
        if not open_still or self._spent.seconds > SECONDS or self._sites.held(statement).trains:
            return {}
        # What a statement tells may hang on what was answered: it is looked at anew with each further answer.
        run = (ast.unparse(statement), frozenset(self._answers))
        if run in self._sites.dear:
            return {}
        began = time.process_time()
        known = self._alike(statement, {**namespace, **before}, open_still)
        seconds = time.process_time() - began
        self._spent.seconds += seconds
        if not known and seconds > DEAR:
            self._sites.dear.add(run)
        return known

    def _alike(self, statement: ast.stmt, namespace: dict[str, Any], open_still: list[str]) -> dict[str, Any]:
        tree = ast.fix_missing_locations(ast.Module([_Opening().visit(copy.deepcopy(statement))], []))
        code = compile(tree, "<surmise>", "exec", dont_inherit=True)
        known: dict[str, Any] = {}
        for pair in (pair for pair in PAIRS if pair[0].holds):
            found = [_bound(code, namespace, variant, self._session) for variant in pair]
            in_both = {name: alike(*(bound.get(name) for bound in found)) for name in open_still}
            new = {name: made for name, made in in_both.items() if made is not None}
            if any(not isinstance(made, UnseenList) for made in new.values()):
                _mark_guesses(new, _bound(code, namespace, pair[0].otherwise(), self._session), self._session)
            known |= new
            open_still = [name for name in open_still if name not in known]
            if not open_still:
                break
        return known


def _is_of_paddle(value: Any) -> bool:
    """Whether it is of Paddle, as a tensor or a model, or holds such things."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(_is_of_paddle, value[:_MOST_LOOKED_AT]))
    return isinstance(value, (paddle.Tensor, paddle.nn.Layer, paddle.optimizer.Optimizer, paddle.Model))


def _kept(value: Any) -> Any:
    is_filled = isinstance(value, (list, dict, set, deque)) and len(value) <= _MOST_COPIED
    return copy.copy(value) if is_filled else value


def _mark_guesses(known: dict[str, Any], otherwise: dict[str, Any], session: Session) -> None:
    """Remember which arrays are of another type with numbers of another type."""
    for name, made in known.items():
        dtype = getattr(made, "dtype", None)  # a number of Python's has none
        if isinstance(made, UnseenList) or dtype is None or getattr(otherwise.get(name), "dtype", None) == dtype:
            continue
        if isinstance(made, UnseenRows):
            made.mark_guessed()
        else:
            session.of(AbsentData).guessed.add(name)


@tidied()
def _bound(code: Any, namespace: dict[str, Any], variant: Variant, session: Session) -> dict[str, Any]:
    """The names as they are in a variant behind a statement; none where it fails there."""
    data = session.of(AbsentData)
    names = {name: _kept(value) for name, value in namespace.items()}
    needs, notes = dict(data.needs), dict(session.notes)
    names[_OR_UNSEEN] = _or_unseen
    try:
        with session.of(Variants).within(variant, MOST):
            exec(code, names)
    except (Exception, SystemExit, DownloadNeeded, BatchNeeded) as problem:  # made-up data: what comes of it is nothing
        if own_faults.is_own(problem):
            notes.setdefault(own_faults.CODE, own_faults.parameters(problem))
        return {}
    finally:
        data.needs, session.notes = needs, notes
    return names


def _or_unseen(make: Callable[[], Any]) -> Any:
    """What is opened or gone through; data of unknown content where it is not here."""
    try:
        return make()
    except Exception as problem:
        if absorbing.is_of_data(problem):
            return Unseen()
        raise


class _Opening(ast.NodeTransformer):
    """Has a statement open files and go through data that are not here."""

    def visit_withitem(self, node: ast.withitem) -> ast.AST:
        """`with open(path) as file:`."""
        node.context_expr = _lazily(node.context_expr)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for line in open(path):`."""
        self.generic_visit(node)
        node.iter = _lazily(node.iter)
        return node


def _lazily(node: ast.expr) -> ast.expr:
    made = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)
    return ast.copy_location(ast.Call(ast.Name(_OR_UNSEEN, ast.Load()), [made], []), node)
