"""Loops of a notebook: gone through again where accumulation wants more steps, left where the training is to go on
behind them, or where all their rounds are alike."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import paddle

from ...patience import Patience
from ...session import current
from ...step.changes import Changes
from ...step.steps import StepWatch
from ..sites import Sites, name_of
from ..syntax import nodes
from .late_rounds import GATHERS
from .passing import is_endless, returned

LOOP = "__loop__"
"""The name under which a notebook's loops find `loop`."""

TURNS = "__turns__"
"""The name under which its `while` loops find `Turns`."""

ALIKE = "__alike__"
"""The name under which loops that train nothing find `alike`."""

STEADY = 10_000
"""Operations behind which such a loop goes on to its last round once two rounds are alike."""

STATISTIC = Patience(5_000, math.inf)
"""How long one of Paddle's data sets is gone through by a loop that trains nothing and keeps nothing: its items are all
of one shape."""


def loop(items: Callable[[], Iterable[Any]], trains: bool = True) -> Iterator[Any]:
    """What a loop of the notebook goes through; `trains`: whether it may hold a step.

    The loop that trains ends once its step was seen and an evaluation is to be reached; the loops around it, and later
    passes of the same one, do not.
    """
    session = current()
    if session is None:
        yield from items()
        return
    changes, watch = session.of(Changes), session.of(StepWatch)
    if trains:
        watch.next_epoch()
    began, passes = changes.attempts, 0
    watch.loops += 1
    try:
        while True:
            through = items()
            statistic = _Statistic(watch) if _is_of_paddle(through) else None
            iterator = iter(through)
            del through
            # No name holds the item here: it is to go when the program lets it go.
            while held := list(islice(iterator, 1)):
                before = watch.updates
                yield held.pop()
                if statistic is not None and statistic.is_known():
                    return
                if _is_left(watch, before, trains):
                    with watch.leaving():  # what is gone through goes with its last name
                        del iterator
                    return
            passes += 1
            if not changes.wants_more(began, passes):
                return
    finally:
        watch.loops -= 1


def _is_left(watch: StepWatch, before: int, trains: bool) -> bool:
    """Whether a loop is left behind a round.

    Args:
        before: updates before that round.
        trains: whether it may hold a step.
    """
    # Behind the last round of the outermost loop an error ends the job, too.
    is_last = watch.loops == 1 and watch.rest.is_on and watch.updates > before and not watch.rest.is_open()
    is_last = is_last or (trains and watch.updates > before and watch.beyond.hastens(watch.runtime.ledger.now))
    is_left = not watch.rest.has_short and (is_last or (watch.loops > 1 and watch.may_leave(before)))
    watch.beyond.rounds += is_left and watch.beyond.is_on
    return is_left


class Turns:
    """The turns of a `while` that trains: `with __turns__() as turns: while turns.go_on() and condition:`."""

    def __init__(self) -> None:
        session = current()
        self._watch = None if session is None else session.of(StepWatch)
        self._before: int | None = None

    def __enter__(self) -> Turns:
        """The program comes to the loop."""
        if self._watch is not None:
            self._watch.next_epoch()
            self._watch.loops += 1
        return self

    def __exit__(self, *_: object) -> None:
        """It is through with it."""
        if self._watch is not None:
            self._watch.loops -= 1

    def go_on(self) -> bool:
        """Whether there is another turn, as far as the trace is concerned."""
        if self._watch is None:
            return True
        before, self._before = self._before, self._watch.updates
        return before is None or not _is_left(self._watch, before, True)


def _is_of_paddle(items: Iterable[Any]) -> bool:
    """Whether it is one of Paddle's data sets, or of a class made of one."""
    modules = [kind.__module__ for kind in type(items).__mro__] if isinstance(items, paddle.io.Dataset) else []
    return any(name.startswith(("paddle.vision.datasets", "paddle.text.datasets")) for name in modules)


class _Statistic:
    """A loop that goes through a data set for its numbers, as for the mean of its pictures."""

    def __init__(self, watch: StepWatch) -> None:
        self._watch, self._updates = watch, watch.updates
        self._waiting = STATISTIC.begins(watch.runtime.ledger.now)
        self._held: int | None = None

    def is_known(self) -> bool:
        """Whether it has gone on for long, and holds what it held behind its first item; called behind each."""
        if self._held is None:
            self._held = self._watch.runtime.ledger.held()
        if not self._waiting.is_over(self._watch.runtime.ledger.now):
            return False
        self._waiting = STATISTIC.begins(self._watch.runtime.ledger.now)
        return self._watch.updates == self._updates and self._watch.runtime.ledger.held() <= self._held


def alike(items: Iterable[Any]) -> Iterable[Any]:
    """The items of a loop that trains nothing and gathers nothing: behind two rounds that are alike the last one."""
    session = current()
    if isinstance(items, type(iter(range(0)))):  # `reversed(range(1000))`
        items = list(items)
    return items if session is None or not isinstance(items, (range, list, tuple)) else _alike(items, session)


def _alike(items: Sequence[Any], session: Any) -> Iterator[Any]:
    ledger, watch = session.of(StepWatch).runtime.ledger, session.of(StepWatch)
    began, updates = ledger.now, watch.updates
    before: object = None
    for place in range(len(items)):
        now, made = ledger.now, len(ledger.records)
        yield items[place]
        if ledger.now - began >= STEADY and place < len(items) - 2:
            # Operations, what each storage took and when it came and went, and what is held.
            lives = [
                (one.bytes, one.start - now, one.end if one.end is None else one.end - now)
                for one in ledger.records[made:]
            ]
            told = ledger.now - now, watch.updates, ledger.held(), lives
            if told == before and watch.updates == updates:
                yield items[-1]
                return
            before = told


class Loops(ast.NodeTransformer):
    """Sends every `for` of a notebook through `loop`, and has every `while` that trains ask `Turns`."""

    def __init__(self, sites: Sites | None = None) -> None:
        self._sites = sites

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for item in items:` as `for item in __loop__(lambda: items):`."""
        trains = self._sites is None or self._sites.held(node).trains
        self.generic_visit(node)
        if not any(isinstance(part, _ONCE) for part in ast.walk(node.iter)):
            again = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.iter)
            given = [again] if trains else [again, ast.Constant(False)]
            node.iter = ast.copy_location(ast.Call(ast.Name(LOOP, ast.Load()), list(given), []), node.iter)
        return node

    def visit_While(self, node: ast.While) -> Any:
        """`while condition:`; where nothing ends it but `return`, that is done behind it."""
        trains = self._sites is None or self._sites.held(node).trains
        then = returned(node)
        is_open = then is None and is_endless(node)
        self.generic_visit(node)
        if not trains or node.orelse or is_open or any(isinstance(part, _ONCE) for part in ast.walk(node.test)):
            return node
        name = f"{TURNS}{node.lineno}_{node.col_offset}"
        called = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "go_on", ast.Load()), [], [])
        node.test = ast.copy_location(ast.BoolOp(ast.And(), [called, node.test]), node.test)
        made = ast.withitem(ast.Call(ast.Name(TURNS, ast.Load()), [], []), ast.Name(name, ast.Store()))
        through = ast.copy_location(ast.With([made], [node]), node)
        return through if then is None else [through, then]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A lambda does not see the names of a class: only its methods are rewritten."""
        node.body = [
            self.visit(part) if isinstance(part, (ast.FunctionDef, ast.ClassDef)) else part for part in node.body
        ]
        return node


class TrainingLoops(Loops):
    """Sends those loops through `loop` that train, so that they can be left."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for batch in loader:`; one with an `else` is not left, as that would run."""
        trains = self._sites is None or self._sites.held(node).trains
        return super().visit_For(node) if trains and not node.orelse else node


class Statistics(Loops):
    """Sends those alone through `loop` that go through something by its name and train nothing themselves."""

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for picture, label in data:`."""
        attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        return super().visit_For(node) if isinstance(node.iter, ast.Name) and not attributes & _TRAINS else node

    def visit_While(self, node: ast.While) -> Any:
        """`while` goes on as it is."""
        return self.generic_visit(node)


class AlikeRounds(ast.NodeTransformer):
    """Sends those loops through `alike` that train nothing, are left by nothing and leave nothing behind but what they
    assign: `for i in range(256): A[i] = paddle.mv(B, C[:, i])`, a forward pass that is timed."""

    def __init__(self, sites: Sites, sources: Iterable[str]) -> None:
        self._sites = sites
        functions = [one for source in sources for one in nodes(source) if isinstance(one, _FUNCTIONS)]
        self._gathering = _gathering(functions)

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for i in items:` as `for i in __alike__(items):`."""
        if not node.orelse and not self._sites.held(node).trains and not self._leaves_something(node):
            node.iter = ast.copy_location(ast.Call(ast.Name(ALIKE, ast.Load()), [node.iter], []), node.iter)
        return self.generic_visit(node)

    def _leaves_something(self, loop: ast.For) -> bool:
        inside = [part for one in loop.body for part in ast.walk(one)]
        return any(isinstance(one, _LEAVES) or _counts(one) or _grown(one) for one in inside) or any(
            name_of(one.func) in self._gathering for one in inside if isinstance(one, ast.Call)
        )


def _gathering(functions: Iterable[ast.AST]) -> frozenset[str]:
    """Names of the functions that let something grow which is none of their own, directly or not."""
    calls: dict[str, set[str]] = {}
    found = set()
    for function in functions:
        inside = list(ast.walk(function))
        own = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        name = getattr(function, "name", "")
        calls.setdefault(name, set()).update(name_of(one.func) for one in inside if isinstance(one, ast.Call))
        if any((grown := _grown(one)) and grown not in own for one in inside):
            found.add(name)
    while more := {name for name, called in calls.items() if called & found} - found:
        found |= more
    return frozenset(found)


def _grown(node: ast.AST) -> str:
    """The name of what grows: `losses.append(...)`, `self.losses.append(...)`, `losses += [...]`."""
    match node:
        case ast.Call(func=ast.Attribute(value=grown, attr=called)) if called in _GROWS:
            return next((one.id for one in ast.walk(grown) if isinstance(one, ast.Name)), "?")
        case ast.Call(func=ast.Name(id="next")):
            return "next"
        case ast.AugAssign(target=ast.Name(id=name), value=ast.List()):
            return name
    return ""


def _counts(node: ast.AST) -> bool:
    """Whether it counts something up: `seen += 1`, `seen += len(rows)`, `seen += x.shape[0]`, `seen = seen + 1`."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        names = {one.id for one in node.targets if isinstance(one, ast.Name)}
        return isinstance(node.value.right, ast.Constant) and getattr(node.value.left, "id", None) in names
    if not isinstance(node, ast.AugAssign):
        return False
    parts = list(ast.walk(node.value))
    is_number = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
    is_size = any(getattr(one, "attr", getattr(one, "id", "")) in {"len", "shape", "size"} for one in parts)
    return is_number or is_size


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES = (ast.Return, ast.Break, ast.Yield, ast.YieldFrom, ast.Await)
_GROWS = GATHERS | {"pop", "popleft", "update", "setdefault", "write"}
"""Methods after which a list, a set, a mapping, a queue or a file is another one."""

_TRAINS = frozenset(("backward", "grad", "step", "minimize", "train_batch", "fit"))

_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
