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

import paddle

from ...patches.data import followed, makings
from ...patches.data import loader as data_loader
from ...patches.data.loaders import Loaders
from ...session import Session, current
from ...undecided.absent_data import EPOCH, AbsentData, Unseen
from ...undecided.descriptions import unknown_batch
from ...undecided.needs import BatchNeeded, Need
from ...undecided.running_code import makes_tensors, place
from ..outside import presumed
from ..sites import Sites, name_of
from . import absorbing, changing, readers, rounds, stand_ins, statements

ABSORBS = "__absorbs__"
"""The name under which cells ask whether a statement may be passed by."""
BATCHES = "__batches__"
"""The name under which a loop that trains finds `batches`."""
ROUNDS = "__rounds__"
"""The name under which a loop that trains finds `rounds`."""
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Return, ast.Delete)
_LOOPS = (ast.For, ast.While)
_COMPOUND = (*_LOOPS, ast.If, ast.With, ast.Try)
_YIELDS = (ast.Yield, ast.YieldFrom)
_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
_PASSES_ON = frozenset(("enumerate", "tqdm", "iter", "list", "track"))
"""Functions whose items are those of their first argument, maybe with a number."""


class Within(ast.NodeTransformer):
    """Puts statements within functions and within loops that train into a `try`, and asks for the batches of those
    loops.

    Args:
        in_loops: the same within all other loops, whose rounds are passed by as a whole else.
    """

    def __init__(self, sites: Sites, *, in_loops: bool = False) -> None:
        self._sites, self._in_loops = sites, in_loops
        self._own: frozenset[str] | None = None
        """Names that the function which is rewritten may bind; None outside of one."""
        self._around = 0
        """Loops that train around what is rewritten."""
        self.is_script = False

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """A cell's own statements are passed by as a whole; only what is in them is rewritten, unlike a script's."""
        node.body = self._each(node.body) if self.is_script else [self._inside(part) for part in node.body]
        return node

    def _inside(self, node: ast.stmt) -> ast.stmt:
        """A statement with what is in it rewritten."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name != "forward":
            outer, self._own = self._own, _local(node)
            node.body = self._each(node.body)
            self._own = outer
            if not node.decorator_list and (kept_as := _kept_as(node)):
                node.decorator_list = [ast.copy_location(ast.Name(kept_as, ast.Load()), node)]
        elif isinstance(node, ast.ClassDef):
            node.body = [self._inside(part) for part in node.body]
        elif isinstance(node, ast.With) or (isinstance(node, ast.Try) and presumed.lets_pass(node)):
            node.body = self._each(node.body)
        elif isinstance(node, ast.If):
            node.body, node.orelse = self._each(node.body), self._each(node.orelse)
        elif isinstance(node, _LOOPS) and self._sites.held(node).trains:
            iterated = _iterated(node)
            self._around += 1
            node.body = [part for one in node.body for part in self._with_answers(one, iterated)]
            self._around -= 1
            if isinstance(node, ast.For):
                _ask(node)
        elif isinstance(node, _LOOPS) and (self._in_loops or _is_once(node)):
            node.body = self._each(node.body)
        if self._own is not None and isinstance(node, _LOOPS) and not self._sites.held(node).trains:
            for part in statements.own(node):
                _open(part)
        elif self._own is not None and isinstance(node, ast.With):
            _open(node)
        return node

    def _each(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [self._guarded(self._inside(part)) for part in body]

    def _with_answers(self, node: ast.stmt, iterated: frozenset[str]) -> list[ast.stmt]:
        """A statement of a loop that trains; what it binds may have been described, as a tensor or as one batch of what
        is iterated or called (`x, y = sampler.next_batch()`)."""
        readers.describe(node)
        assigned = [one for one in (node.body if isinstance(node, ast.With) else [node]) if isinstance(one, ast.Assign)]
        names = [name for one in assigned for name in statements.bound_by(one) if name not in iterated]
        line = f"try: {{0}} = {readers.DESCRIBED}({{0!r}}, {{0}})\nexcept NameError: pass"  # a `with` may end before it
        lines = "\n".join(map(line.format, names))
        return [self._guarded(self._inside(node)), *(_at(node, lines) if all(map(str.isidentifier, names)) else ())]

    def _give(self, node: ast.stmt) -> None:
        """Let a call that trains have what it is given, of unknown content where that is not here:
        `train(net, load("rows.npy"))`."""
        if isinstance(node, (ast.Assign, ast.Expr, ast.Return)) and isinstance(call := node.value, ast.Call):
            call.args = [self._given(one) for one in call.args]
            for word in call.keywords:
                word.value = self._given(word.value)

    def _given(self, node: ast.expr) -> ast.expr:
        calls = any(isinstance(part, ast.Call) for part in ast.walk(node))  # `load(path)[:400]`
        return _opened(node) if calls and not self._sites.held(node).trains else node

    def _guarded(self, node: ast.stmt) -> ast.stmt:
        if self._sites.held(node).trains:
            self._give(node)
            return node
        if not _can_be_passed(node):
            if self._around and isinstance(node, ast.If):
                rounds.go_on(node, ABSORBS)
            return node
        lines = [f"if not {ABSORBS}(__problem__): raise"]
        if (parts := _each_part(node)) is not None:
            return _tried(node, [*lines, parts])
        bound = statements.bound_by(node)
        names = [one for one in bound if (self._own is None or one in self._own) and one != "self"]
        lines += [f"{changing.FILLED}(lambda: {name})" for name in bound if self._own is not None]
        stored = statements.stored_into(node)
        made = statements.tensors_made(node)
        for name in (*names, *statements.attributes(node)):
            of_tensors = f", {'is_kept' if '.' in name else 'is_tensor'}=True" if name in made else ""
            held = f", lambda: {name}" if name in stored else of_tensors
            owner, _, own = name.rpartition(".")
            # What a module has (`os.environ`) is everybody's.
            of_object = f"if {owner}.__class__.__name__ != 'module': " if owner else ""
            lines += [f"{of_object}{name} = {stand_ins.UNNAMED}(__problem__, {own!r}{held})"]
        lines += [f"{changing.CHANGED}(lambda: {name}, {method!r})" for name, method in statements.calls(node)]
        of_tensors = ", is_tensor=True" if isinstance(node, ast.Return) and makes_tensors(node.value) else ""
        lines += [f"return {stand_ins.UNNAMED}(__problem__, ''{of_tensors})"] * isinstance(node, ast.Return)
        return _tried(node, lines)


def _tried(node: ast.stmt, lines: list[str]) -> ast.Try:
    """A statement in a `try`, with what is done where it fails."""
    text = "try:\n pass\nexcept BaseException as __problem__:\n " + "\n ".join(lines)
    (guarded,) = _at(node, text)
    assert isinstance(guarded, ast.Try)
    guarded.body = [node]
    return guarded


def _is_opened(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) == stand_ins.OPENED


def _each_part(node: ast.stmt) -> str | None:
    """A statement that gives or binds several things, one at a time: what one of them lacks is not the others'."""
    match node:
        case ast.Return(value=ast.Tuple(elts=parts)):
            head = "return "
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)) if len(names) == len(parts):
            head = f"{ast.unparse(node.targets[0])} = "
        case _:
            return None
    if any(isinstance(part, ast.Starred) for part in parts):
        return None
    return head + "".join(f"{stand_ins.OPENED}(lambda: {ast.unparse(part)}, {ABSORBS}), " for part in parts)


def _open(node: ast.AST) -> None:
    """Let a `with` or a loop go on with what it opens or lists: `open(path)`, `os.listdir(folder)`."""
    if isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars is not None:
                item.context_expr = _opened(item.context_expr)
    elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and name_of(node.iter) != "range":
        node.iter = _opened(node.iter)


def _opened(node: ast.expr) -> ast.expr:
    """What is opened or listed, of unknown content where it is not here: what is done with it tells more than that it
    failed."""
    if any(isinstance(part, _ONCE) for part in ast.walk(node)) or _is_opened(node):
        return node
    lazily = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)
    call = ast.Call(ast.Name(stand_ins.OPENED, ast.Load()), [lazily, ast.Name(ABSORBS, ast.Load())], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def _iterated(loop: ast.stmt) -> frozenset[str]:
    """Names of what the loops within a loop go through."""
    loops = [part for part in ast.walk(loop) if isinstance(part, ast.For) and part is not loop]
    return frozenset(part.id for one in loops for part in ast.walk(one.iter) if isinstance(part, ast.Name))


def _at(node: ast.stmt, text: str) -> list[ast.stmt]:
    """Statements that stand where a node stands."""
    made = ast.parse(text)
    for part in ast.walk(made):
        if isinstance(part, (ast.stmt, ast.expr, ast.ExceptHandler)):
            ast.copy_location(part, node)
    return made.body


def rewriting(sites: Sites, *, in_loops: bool = False) -> tuple[ast.NodeTransformer, ...]:
    """What is done to cells that are to go on without their data."""
    return Within(sites, in_loops=in_loops), stand_ins.StandIns(shapes_arrays=in_loops)


def _parts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function outside of those that are defined in it."""
    for statement in function.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement
        else:
            yield from statements.own(statement)


def _kept_as(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What remembers how a function is run: a generator, a constructor, one that gives something; empty where nothing
    does."""
    parts = list(_parts(function))
    if any(isinstance(one, _YIELDS) for one in parts):
        return readers.READER
    if function.name == "__init__":
        return readers.CONSTRUCTOR
    gives = any(isinstance(one, ast.Return) and one.value is not None for one in parts)
    return readers.MAKER if gives and not function.name.startswith("__") else ""


def _local(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The names that a function may bind: its arguments, what it binds itself, and what it declares to be another's."""
    given = function.args
    found = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one}
    for part in _parts(function):
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            found.update(part.names)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.alias):
            found.add((part.asname or part.name).partition(".")[0])
        elif isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.add(part.name)
    return frozenset(found)


def _is_once(node: ast.stmt) -> bool:
    """Whether what is in a statement gives items (a reader's loop), awaits or binds as it goes."""
    return any(isinstance(part, _ONCE) for part in statements.own(node))


def _can_be_passed(node: ast.stmt) -> bool:
    """Whether the code goes on behind a statement as if it had run: it gives no items and ends nothing early."""
    if _is_once(node) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # words
        return False
    if isinstance(node, _SIMPLE):
        return True
    return isinstance(node, _COMPOUND) and not _jumps(node, within=False)


def _jumps(node: ast.AST, *, within: bool) -> bool:
    """Whether a statement ends what it stands in early.

    Args:
        within: whether it stands in a loop of its own, which `break` ends.
    """
    if isinstance(node, ast.Return) or (isinstance(node, (ast.Break, ast.Continue)) and not within):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    within = within or isinstance(node, _LOOPS)
    return any(_jumps(child, within=within) for child in ast.iter_child_nodes(node))


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
    items: Any = None
    count: int | None = None
    kind = _TENSORS if not is_numpy else _ARRAYS
    try:
        items = made = make()
        kind = _SAMPLES if rounds.gives_samples(items) else kind
        count = rounds.splits(items)
        # Data of unknown content is an iterator to Python as well: what its own items are a reader's code would say.
        if not isinstance(items, Unseen) and (isinstance(items, Iterator) or makings.gives_own(items)):
            items = iter(made)
            held = list(islice(items, 1))
    except BaseException as problem:
        if absorbing.is_of_step(problem) or not absorbing.is_of_data(problem):
            raise
        is_told = count is None or session.of(AbsentData).description(name) is not None
        found = _followed(session, make, name, kind) if is_told else rounds.folds(count or 0)
        return rounds.as_many(session, found, count)
    if isinstance(items, Unseen):
        named = session.of(AbsentData).name_of(items) or name
        return rounds.as_many(session, _followed(session, make, named, kind), None)
    if absorbing.holds_unseen(held):
        return rounds.as_many(session, _followed(session, make, name, kind), count)
    if isinstance(items, paddle.io.DataLoader):
        return rounds.while_it_trains(session, items)
    return _all(held, items) if isinstance(items, Iterator) else items


def _followed(session: Session, make: Callable[[], Iterable[Any]], name: str, kind: str) -> Iterator[Any]:
    """The batches that a reader makes of data that is not here, where its code says what they look like."""
    data = session.of(AbsentData)
    if data.description(name) is None and data.follows:
        found = followed.of_reader(session, make, name)
        if isinstance(found, followed.Partial):
            data.know_partly(name, found.parts, found.names)
        elif found is not None:
            data.followed[name] = followed.text(found)
            batch = followed.as_unknown(found)
            return data_loader.batches_like(session, batch, EPOCH)
    return _described(session, name, kind)


def _all(held: list[Any], items: Iterator[Any]) -> Iterator[Any]:
    if held:  # no name holds the item here: it is to go when the program lets it go
        yield held.pop()
        yield from items


def _described(session: Session, name: str, kind: str) -> Iterator[Any]:
    data = session.of(AbsentData)
    text = data.description(name)
    if text is None:
        raise BatchNeeded(data.need(Need(name, "batch", "batch_unseen", *place())))
    return _batches(session, text, kind)


def _batches(session: Session, text: str, kind: str) -> Iterator[Any]:
    size = session.of(Loaders).described_size(text)
    for _ in range(EPOCH):
        batch = data_loader.described_tensors(session, text, size) if kind == _TENSORS else unknown_batch(text, size)
        if kind == _SAMPLES and isinstance(batch, list):
            yield [tuple(one[number] for one in batch) for number in range(size)]
        else:
            yield batch[0] if isinstance(batch, list) and len(batch) == 1 else batch


_TENSORS, _ARRAYS, _SAMPLES = "tensors", "arrays", "samples"
"""What a loop takes a batch as."""


NAMES = {
    BATCHES: batches,
    ROUNDS: rounds.counted,
    rounds.HOLDS: rounds.holds,
    **readers.NAMES,
    **changing.NAMES,
    **stand_ins.NAMES,
}
"""What cells find here."""
