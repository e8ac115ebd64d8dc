"""How many rounds a loop that trains has, where that hangs on data that is not here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import GeneratorType
from typing import Any

from ... import call_stack
from ...session import Session, current
from ...step.steps import StepWatch
from ...undecided.absent_data import EPOCH, AbsentData, Unseen
from ...undecided.needs import NeededError

IDLE = 16
"""Rounds without a step, each with something passed by or trained that is not known, after which a loop has no more
to tell."""
HOLDS = "__holds__"
"""The name under which a condition in a loop that trains finds `holds`."""
TRAINED = 2
"""Rounds of a loop that trains anew in each, where nobody knows how many it has: the second stands beside what the
first one leaves alive."""


def counted(make: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """The numbers that a loop that trains counts; as many as a steady step needs, where data says how many."""
    numbers: Iterable[Any]
    try:
        numbers = make()
    except NeededError:
        numbers = range(EPOCH)
    session = current()
    return numbers if session is None else while_it_trains(session, numbers)


def while_it_trains(session: Session, items: Iterable[Any]) -> Iterator[Any]:
    """The items, up to those behind which nothing more is learnt."""
    data, watch, idle = session.of(AbsentData), session.of(StepWatch), 0
    iterator = iter(items)
    while held := list(islice(iterator, 1)):  # no name holds the item here, as in `as_many`
        passed, updates = data.passed, watch.updates
        yield held.pop()
        is_idle = (data.passed > passed or data.hides_the_step) and watch.updates == updates
        idle = idle + 1 if is_idle else 0
        if idle == IDLE:
            return


def go_on(node: ast.If, absorbs: str) -> None:
    """Let a condition in a loop that trains, which ends a round or the loop (`if steps >= most: break`), not hold where
    data says whether it does: the loop goes on."""
    ends, goes_on = (any(map(_ends, arm)) for arm in (node.body, node.orelse))
    is_plain = not any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield)) for part in ast.walk(node.test))
    if ends != goes_on and is_plain:
        lazily = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.test)
        given: list[ast.expr] = [lazily, ast.Name(absorbs, ast.Load()), ast.Constant(goes_on)]
        call = ast.Call(ast.Name(HOLDS, ast.Load()), given, [])
        node.test = ast.fix_missing_locations(ast.copy_location(call, node.test))


def _ends(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Raise))


def holds(test: Callable[[], Any], absorbs: Callable[[BaseException], bool], otherwise: bool) -> bool:
    """What a condition comes to; `otherwise` where data that is not here says it."""
    try:
        return bool(test())
    except NeededError as problem:
        if not absorbs(problem):
            raise
        return otherwise


def splits(items: Any) -> int | None:
    """How many rounds a splitter of scikit-learn has (`KFold(5).split(rows)`), whose generator has not begun."""
    frame = getattr(items, "gi_frame", None)
    splitter = None if frame is None else frame.f_locals.get("self")
    count = getattr(splitter, "n_splits", None)
    return count if type(count) is int else None


def folds(count: int) -> Iterator[Any]:
    """What a splitter of rows that are not here gives: places of those to train with and to test with."""
    return ((Unseen(), Unseen()) for _ in range(count))


def as_many(session: Session, items: Iterable[Any], count: int | None) -> Iterator[Any]:
    """So many of the items; where that is not known and each round is a whole training, two."""
    watch, given, trained = session.of(StepWatch), 0, 0
    where, iterator = call_stack.told(), iter(items)
    while held := list(islice(iterator, 1)):
        before = watch.trainings
        yield held.pop()
        given, trained = given + 1, trained + (watch.trainings > before)
        if given == count:
            return
        if count is None and trained == TRAINED:
            session.note("rounds_unknown", **where)
            return


def gives_samples(items: Any) -> bool:
    """Whether what a loop goes through gives lists of samples: the reader that `paddle.batch` makes."""
    code = items.gi_code if isinstance(items, GeneratorType) else None
    return code is not None and code.co_filename.startswith(call_stack.PADDLE) and code.co_name == "batch_reader"
