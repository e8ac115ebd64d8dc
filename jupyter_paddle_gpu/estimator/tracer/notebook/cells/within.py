"""Functions and loops of a notebook that go on behind a statement which data keeps from running, when it is not here.

A cell goes on behind such a statement anyway (`absorbing`). Here that holds within functions and within the loop that
trains too, so that a reader, a data set or a training function gets as far as it can; the loop that trains asks what
one of its batches looks like. A notebook is run so only once it was seen to want data that is not here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ...patches.data import loader as data_loader
from ...session import Session, current
from ...undecided.absent_data import EPOCH, AbsentData, BatchNeeded, Need, NeededError, Unseen
from ...undecided.descriptions import unknown_batch
from ...undecided.running_code import place
from ..sites import Sites, name_of
from . import absorbing

ABSORBS = "__absorbs__"
"""The name under which cells ask whether a statement may be passed by."""
BATCHES = "__batches__"
"""The name under which a loop that trains finds `batches`."""
ROUNDS = "__rounds__"
"""The name under which a loop that trains finds `rounds`."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Return, ast.Delete)
_LOOPS = (ast.For, ast.While)
_COMPOUND = (*_LOOPS, ast.If, ast.With, ast.Try)
_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
_JUMPS = (ast.Break, ast.Continue, ast.Return)
_PASSES_ON = frozenset(("enumerate", "tqdm", "iter", "list", "track"))
"""Functions whose items are those of their first argument, maybe with a number."""


class Within(ast.NodeTransformer):
    """Puts statements within functions and within loops that train into a `try`, and asks for the batches of those
    loops."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """The cell's own statements are passed by as a whole; only what is in them is rewritten."""
        node.body = [self._inside(part) for part in node.body]
        return node

    def _inside(self, node: ast.stmt) -> ast.stmt:
        """A statement with what is in it rewritten."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != "forward":
            node.body = self._each(node.body)
        elif isinstance(node, ast.ClassDef):
            node.body = [self._inside(part) for part in node.body]
        elif isinstance(node, ast.With):
            node.body = self._each(node.body)
        elif isinstance(node, ast.If):
            node.body, node.orelse = self._each(node.body), self._each(node.orelse)
        elif isinstance(node, _LOOPS) and self._sites.held(node).trains:
            node.body = self._each(node.body)
            if isinstance(node, ast.For):
                _ask(node)
        return node

    def _each(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._guarded(self._inside(part)) for part in body]

    def _guarded(self, node: ast.stmt) -> ast.stmt:
        if self._sites.held(node).trains or not _can_be_passed(node):
            return node
        lines = [f"if not {ABSORBS}(__problem__): raise"]
        lines += [f"{name} = {absorbing.UNSEEN}()" for name in (*absorbing.bound_by(node), *_attributes(node))]
        lines += [f"return {absorbing.UNSEEN}()"] * isinstance(node, ast.Return)
        text = "try:\n pass\nexcept BaseException as __problem__:\n " + "\n ".join(lines)
        (guarded,) = ast.parse(text).body
        assert isinstance(guarded, ast.Try)
        for part in ast.walk(guarded):
            if isinstance(part, (ast.stmt, ast.expr, ast.ExceptHandler)):
                ast.copy_location(part, node)
        guarded.body = [node]
        return guarded


def _can_be_passed(node: ast.stmt) -> bool:
    """Whether the code goes on behind a statement as if it had run: it gives no items and ends nothing early."""
    parts = list(absorbing.own(node))
    if any(isinstance(part, _ONCE) for part in parts):
        return False
    if isinstance(node, _SIMPLE):
        return True
    return isinstance(node, _COMPOUND) and not any(isinstance(part, _JUMPS) for part in parts)


def _attributes(node: ast.stmt) -> list[str]:
    """The attributes of objects that a statement binds or fills: `self.rows = ...`, `self.rows.append(...)`."""
    found: dict[str, None] = {}
    for part in absorbing.own(node):
        target: ast.AST | None = None
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            target = part
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            target = part.value
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in absorbing.FILLS:
            target = part.func.value
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            found[f"{target.value.id}.{target.attr}"] = None
    return list(found)


def _ask(loop: ast.For) -> None:
    """Let a loop that trains ask for its batches: `for batch in enumerate(reader()):` goes through
    `enumerate(__batches__(lambda: reader(), "reader", ...))`."""
    holder: ast.Call | None = None
    items = loop.iter
    while isinstance(items, ast.Call) and name_of(items) in _PASSES_ON and items.args:
        holder, items = items, items.args[0]
    name = name_of(items.value if isinstance(items, ast.Subscript) else items)
    if not name.isidentifier() or name == "zip" or any(isinstance(part, _ONCE) for part in ast.walk(items)):
        return
    lazily = ast.Lambda(ast.arguments([], [], None, [], [], None, []), items)
    if isinstance(items, ast.Call) and name == "range":
        asked = ast.Call(ast.Name(ROUNDS, ast.Load()), [lazily], [])
    else:
        asked = ast.Call(ast.Name(BATCHES, ast.Load()), [lazily, *_of_batch(name, loop)], [])
    ast.copy_location(asked, items)
    if holder is None:
        loop.iter = asked
    else:
        holder.args[0] = asked


def _of_batch(name: str, loop: ast.For) -> list[ast.expr]:
    body = ast.unparse(ast.Module(loop.body, []))
    return [ast.Constant(name), ast.Constant("to_tensor" in body or "to_variable" in body)]


def rounds(make: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """The numbers that a loop that trains counts; as many as a steady step needs, where data says how many."""
    try:
        return make()
    except NeededError:
        return range(EPOCH)


def batches(make: Callable[[], Iterable[Any]], name: str, is_numpy: bool) -> Iterable[Any]:
    """What a loop that trains goes through; where its data is not here, batches as they were described.

    Args:
        make: gives the items.
        name: what they are asked by.
        is_numpy: whether the loop makes tensors of them itself.

    Raises:
        BatchNeeded: nobody has said what they look like.
    """
    session = current()
    if session is None:
        return make()
    held: list[Any] = []
    try:
        items = make()
        if isinstance(items, Iterator):
            held = list(islice(items, 1))
    except BaseException as problem:
        if absorbing.is_of_step(problem) or not absorbing.is_of_data(problem):
            raise
        return _described(session, name, is_numpy)
    if isinstance(items, Unseen):
        return _described(session, session.of(AbsentData).name_of(items) or name, is_numpy)
    if absorbing.holds_unseen(held):
        return _described(session, name, is_numpy)
    return _all(held, items) if isinstance(items, Iterator) else items


def _all(held: list[Any], items: Iterator[Any]) -> Iterator[Any]:
    # No name holds the item here: it is to go when the program lets it go.
    if held:
        yield held.pop()
        yield from items


def _described(session: Session, name: str, is_numpy: bool) -> Iterator[Any]:
    data = session.of(AbsentData)
    text = data.description(name)
    if text is None:
        raise BatchNeeded(data.need(Need(name, "batch", "batch_unseen", *place())))
    return _batches(session, text, is_numpy)


def _batches(session: Session, text: str, is_numpy: bool) -> Iterator[Any]:
    size = data_loader.described_size(session, text)
    for _ in range(EPOCH):
        batch = unknown_batch(text, size) if is_numpy else data_loader.described_tensors(session, text, size)
        yield batch[0] if isinstance(batch, list) and len(batch) == 1 else batch
