"""Faults behind a step, within its epoch: where the code has such a part, and which errors there surely end a job."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import traceback
from collections.abc import Iterable, Iterator
from types import ModuleType, TracebackType
from typing import TypeAlias

import numpy as np
import paddle
from paddle.amp import grad_scaler

from ... import call_stack
from ...patches.absent_modules import AbsentModules
from ...session import CUT, SELECTED, SIZES, Session
from ...step.steps import StepWatch
from .. import contents
from ..beyond import nothing_given, places, returned, written
from ..miscalled import is_miscalled
from ..sites import STEPS, TRAININGS
from ..syntax import nodes, parsed
from . import late_rounds, stops
from .absorbing import is_of_types

Loop: TypeAlias = "ast.For | ast.While | ast.AsyncFor"
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_DOES_NOTHING = (ast.Pass, ast.Break, ast.Continue)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (ast.Module, ast.FunctionDef, ast.If, ast.With)
_CALLED_BEHIND = re.compile(r"def on_(epoch_end|eval_\w+)\b")
"""A callback's methods that `Model.fit` calls behind the steps of an epoch."""
_OF_NUMBER = re.compile(r"empty(?! string)|at least|greater than 0|larger than 0|> 0|>= 1")
"""What Paddle says where there are too few of something: rounds that were left may have brought more."""


def is_any(sources: Iterable[str]) -> bool:
    """Whether anything stands behind a loop that trains, within the round of another loop or the cell or function that
    it ends, or behind the call of a function that has one within a round, or is called there by `Model.fit`, or is done
    in some rounds alone. It is read by lines alone: most code has nothing there."""
    sources = list(sources)
    if any(".fit(" in source for source in sources) and any(map(_CALLED_BEHIND.search, sources)):
        return True
    trees = [nodes(source) for source in sources if any(word in source for word in STEPS | TRAININGS)]
    loops = [[node for node in tree if isinstance(node, _LOOPS)] for tree in trees]
    names = [_names(tree, inner) for tree, inner in zip(trees, map(_training, trees, loops), strict=True)]
    known = {name for found in names for name in found}
    steps = {name for found in map(_stepping, trees) for name in found}
    if any(map(late_rounds.is_any, (_calling(one, steps) for one in loops))):
        return True
    for tree, outer in zip(trees, loops, strict=True):
        starts = [node.lineno for node in _training(tree, outer)]
        starts += [
            node.lineno
            for node in tree
            if isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in known
        ]
        for loop in outer:
            first = next((one for one in loop.body if any(_holds(one, line) for line in starts)), None)
            behind = [] if first is None else loop.body[loop.body.index(first) + 1 :]
            if any(not isinstance(one, _DOES_NOTHING) for one in behind):
                return True
    return any(map(_ends_in_more, trees, map(_training, trees, loops)))


def goes_on(cells: Iterable[str]) -> bool:
    """Whether a cell stands behind the last one that trains which is followed (`is_short`)."""
    sources = list(cells)
    trees = [nodes(source) for source in sources]
    training = [_training(tree, [node for node in tree if isinstance(node, _LOOPS)]) for tree in trees]
    names = {name for tree, found in zip(trees, training, strict=True) for name in _names(tree, found)}
    last = max((number for number, tree in enumerate(trees) if _trains(tree, names)), default=len(trees))
    return any(is_short(source) and _does(source) for source in sources[last + 1 : last + 2])


def _trains(tree: tuple[ast.AST, ...], names: set[str]) -> bool:
    """Whether a cell runs a loop that trains: one of its own, or that of a function of this name."""
    module = next(node for node in tree if isinstance(node, ast.Module))
    run = [part for one in module.body if not isinstance(one, _DEFINES) for part in ast.walk(one)]
    return any(
        isinstance(part, ast.Call)
        and (
            part.func.attr in STEPS | TRAININGS
            if isinstance(part.func, ast.Attribute)
            else getattr(part.func, "id", "") in names
        )
        for part in run
    )


def is_short(source: str) -> bool:
    """Whether a cell behind the training is quickly gone through: it waits for nobody and starts no program."""
    return _IS_LONG.search(source) is None and not any(isinstance(node, ast.While) for node in nodes(source))


_IS_LONG = re.compile(r"\b(input|sleep|system|subprocess|get_ipython|fit)\b")
"""What of a cell takes long."""


def _does(source: str) -> bool:
    module = next(node for node in nodes(source) if isinstance(node, ast.Module))
    return any(not isinstance(one, (*_DEFINES, *_DOES_NOTHING, ast.Import, ast.ImportFrom)) for one in module.body)


def _ends_in_more(tree: tuple[ast.AST, ...], training: list[Loop]) -> bool:
    """Whether a cell, a function or a block of them goes on behind a loop of its own that trains, or behind `fit`."""
    for body in (node.body for node in tree if isinstance(node, _BLOCKS)):
        trains = [number for number, one in enumerate(body) if one in training or _fits(one)]
        last = max(trains, default=len(body))
        if any(not isinstance(one, (*_DEFINES, *_DOES_NOTHING, ast.Return)) for one in body[last + 1 :]):
            return True
    return False


def _fits(statement: ast.stmt) -> bool:
    """Whether a statement calls what trains whatever it is given."""
    called = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    return isinstance(called, ast.Call) and getattr(called.func, "attr", "") in TRAININGS


def _training(tree: tuple[ast.AST, ...], loops: list[Loop]) -> list[Loop]:
    """The loops with a backward pass."""
    steps = [
        node.lineno
        for node in tree
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STEPS
    ]
    return [loop for loop in loops if any(_holds(loop, line) for line in steps)]


def _stepping(tree: tuple[ast.AST, ...]) -> Iterator[str]:
    """The methods and functions that take a step of a training."""
    for node in tree:
        if isinstance(node, ast.FunctionDef) and any(_called(part) in STEPS for part in ast.walk(node)):
            yield node.name


def _calling(loops: list[Loop], steps: set[str]) -> list[Loop]:
    """The loops that take a step, or call what does, or hand it to a call (`optimizer.step(closure)`)."""
    steps = steps | STEPS
    return [loop for loop in loops if any(_called(part) in steps or _hands(part, steps) for part in ast.walk(loop))]


def _hands(node: ast.AST, steps: set[str]) -> bool:
    given = node.args if isinstance(node, ast.Call) else []
    return any(isinstance(one, ast.Name) and one.id in steps for one in given)


def _called(node: ast.AST) -> str:
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _names(tree: tuple[ast.AST, ...], loops: list[Loop]) -> list[str]:
    """The functions with one of the loops."""
    functions = [node for node in tree if isinstance(node, ast.FunctionDef)]
    return [one.name for one in functions if any(_holds(one, loop.lineno) for loop in loops)]


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def is_sure(problem: BaseException, session: Session, sources: Iterable[str]) -> bool:
    """Whether an error behind the step comes wherever the notebook runs, however many rounds its loops had.

    What Paddle refuses, and how many values there are for names, may hang on what the loops have gathered, or on
    numbers that are not computed: who asks follows them once more, with more rounds and other numbers.
    """
    sources = list(sources)
    lacks = contents.lacks(problem, sources) or returned.lacks(problem, sources) or _is_of_array(problem, session)
    lacks = lacks or stops.is_left(problem) or stops.is_of_shell(problem)
    lacks = lacks or problem is session.of(StepWatch).rest.missing or nothing_given.fails(problem, sources)
    lacks = (
        lacks
        or places.is_beyond(problem, session)
        or stops.is_of_code(problem)
        or written.lacks_folder(problem, sources)
        or _is_of_scaler(problem)
    )
    lacks = (
        lacks
        or _is_of_places(problem)
        or _is_of_ranks(problem)
        or (isinstance(problem, AssertionError) and _OF_MODE in str(problem))
    )
    if lacks or not stops.is_of_notebook(problem, session, told=True) or _is_of_none(problem, session):
        return lacks
    if session.is_refusal(problem):
        return _OF_NUMBER.search(str(problem)) is None
    if is_of_types(problem) or stops.is_unpacked(problem) or stops.is_by_dimensions(problem) or _is_said(problem):
        return True
    if _is_of_values(problem) or (isinstance(problem, TypeError) and not is_miscalled(problem)):
        return _is_by_type(problem) and _is_settled(problem, sources)
    if isinstance(problem, TypeError) or stops.is_by_sizes(problem):
        return True
    return _is_nowhere(problem, sources)


def _is_nowhere(problem: BaseException, sources: list[str]) -> bool:
    """Whether a name, or an attribute of something that is known, is bound nowhere in the code."""
    is_missing = type(problem) is NameError or (isinstance(problem, AttributeError) and _is_known(problem))
    name = getattr(problem, "name", None)
    is_pythons = isinstance(problem, NameError) and hasattr(builtins, str(name))
    if not is_missing or not isinstance(name, str) or is_pythons:
        return False
    is_global = isinstance(problem, NameError) and "free variable" not in str(problem)
    return name not in set(_bound(sources, is_global=is_global))


def _is_of_none(problem: BaseException, session: Session) -> bool:
    """Whether it speaks of no elements, where nobody knows how many there are: whatever stands for numbers may leave
    none."""
    is_open = not session.assumed.isdisjoint((SIZES, SELECTED))
    return is_open and _NONE.search(str(problem)) is not None and not is_of_types(problem)


_NONE = re.compile(r"[(\[ ]0[,)\]]|size 0\b|got 0\b")


def _is_of_places(problem: BaseException) -> bool:
    """Whether a text has more places than are given one by one: `"{} of {}".format(rate)`."""
    if not isinstance(problem, IndexError) or not str(problem).startswith("Replacement index "):
        return False
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    return "*" not in linecache.getline(frame.f_code.co_filename, line)


_RANK = re.compile(r"\.shape\[-?\d+\]")


def _is_of_ranks(problem: BaseException) -> bool:
    """Whether the code takes a shape for one of another number of dimensions, or of other ones than the first, which
    may hang on rounds: `x.shape[2]` of a matrix, `assert loss.shape == [1]`."""
    *_, (frame, line) = traceback.walk_tb(problem.__traceback__)
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    if isinstance(problem, IndexError):
        return str(problem) == "list index out of range" and 0 < text.count("[") == len(_RANK.findall(text))
    body = parsed(text).body if isinstance(problem, AssertionError) else []
    test = body[0].test if body and isinstance(body[0], ast.Assert) else None
    match test:
        case ast.Compare(left=ast.Attribute(attr="shape") as left, ops=[ast.Eq()], comparators=[ast.List(elts=told)]):
            held = list(places.value(left, {**frame.f_globals, **frame.f_locals}) or ())
            sizes = [getattr(one, "value", None) for one in told]
            known = zip(held[1:], sizes[1:], strict=False)
            return len(held) != len(sizes) or any(type(b) is int and a != b for a, b in known)
    return False


def _is_of_scaler(problem: BaseException) -> bool:
    """Whether a scaler of gradients says that it is called out of turn, which hangs on no number."""
    *_, (frame, _) = traceback.walk_tb(problem.__traceback__)
    return isinstance(problem, RuntimeError) and frame.f_code.co_filename == grad_scaler.__file__


def _is_of_array(problem: BaseException, session: Session) -> bool:
    """Whether an array or a tensor has no such place, where nothing that is made up tells how many it has."""
    is_told = isinstance(problem, IndexError) and _OUT_OF_BOUNDS.fullmatch(str(problem)) is not None
    is_made_up = session.of(AbsentModules).modules or not session.assumed.isdisjoint((SIZES, SELECTED, CUT))
    return is_told and not is_made_up


def _is_said(problem: BaseException) -> bool:
    """Whether Paddle's own code says of shapes that they do not go together."""
    *_, (frame, _) = traceback.walk_tb(problem.__traceback__)
    is_paddles = frame.f_code.co_filename.startswith(call_stack.PADDLE)
    return isinstance(problem, ValueError) and is_paddles and _OF_SHAPES.search(str(problem)) is not None


_OF_MODE = "we turn on dynamic graph mode by default, and"
"""What Paddle says of a function that is none of dynamic graphs (`base/framework.py`)."""
_OF_SHAPES = re.compile(r"dim(s|ension)?\b|shape|rank", re.IGNORECASE)
_OUT_OF_BOUNDS = re.compile(
    r"index -?\d+ is out of bounds for axis \d+ with size \d+|"
    r"\(OutOfRange\) The starting index -?\d+ of slice is out of bounds in tensor.*",
    re.DOTALL,
)


def given(problem: BaseException) -> list[list[int]]:
    """The shapes of the tensors that were handed over where an error was raised, outside of the notebook's code: what
    hangs on how many rounds the loops had has other ones with more of them."""
    steps, step = list[TracebackType](), problem.__traceback__
    while step is not None:
        steps = [] if call_stack.is_cell(step.tb_frame.f_code.co_filename) else [*steps, step]
        step = step.tb_next
    held = [value for one in steps for value in one.tb_frame.f_locals.values()]
    each = [part for value in held for part in (value if isinstance(value, (list, tuple)) else [value])]
    return [list(part.shape) for part in each if isinstance(part, paddle.Tensor)]


def _is_by_type(problem: BaseException) -> bool:
    """Whether something of a type that rounds do not change is used as what it is not: `"loss " + loss.item()`."""
    *_, (frame, _) = traceback.walk_tb(problem.__traceback__)
    file = frame.f_code.co_filename
    is_elsewhere = "site-packages" in file and not file.startswith(call_stack.PADDLE)
    return not is_elsewhere and _OF_STAND_INS.search(str(problem)) is None


def _is_settled(problem: BaseException, sources: Iterable[str]) -> bool:
    """Whether the lines that end by it name nothing that is bound in some rounds of a loop alone: a later round may
    make it something else (`if loss < best: kept = net.state_dict()`)."""
    loops = [node for source in sources for node in nodes(source) if isinstance(node, _LOOPS)]
    chosen = [part for loop in loops for one in ast.walk(loop) if isinstance(one, ast.If) for part in ast.walk(one)]
    late = {str(getattr(one, "id", getattr(one, "attr", ""))) for one in chosen if hasattr(one, "ctx")
            and isinstance(one.ctx, ast.Store)}  # fmt: skip
    steps = traceback.walk_tb(problem.__traceback__)
    lines = [linecache.getline(frame.f_code.co_filename, line) for frame, line in steps]
    return late.isdisjoint(_WORD.findall(" ".join(lines)))


_WORD = re.compile(r"[A-Za-z_]\w*")
_OF_STAND_INS = re.compile(r"NoneType|Watching|Unseen|Absent|Awaited")
"""What is not yet there, or stands for something that the program only looks at."""


def _is_of_values(problem: BaseException) -> bool:
    """Whether an array, a number, a text or a list lacks an attribute: `loss.item().numpy()`."""
    return isinstance(problem, AttributeError) and isinstance(getattr(problem, "obj", None), _VALUES)


_VALUES = (np.ndarray, np.generic, int, float, str, list, dict, tuple, set)


def _is_known(problem: AttributeError) -> bool:
    """Whether something of Paddle's lacks the attribute, or an object of the program's own classes."""
    owner = getattr(problem, "obj", None)
    if call_stack.is_own(type(owner)):
        return True
    if isinstance(owner, ModuleType):
        return owner.__name__.partition(".")[0] in {"paddle", "numpy"}
    return type(owner).__module__.partition(".")[0] == "paddle"


def _bound(sources: Iterable[str], *, is_global: bool) -> Iterator[str]:
    """Every name that anything in the code may bind, attributes among them.

    Args:
        is_global: whether names of functions' own do not count.
    """
    for source in sources:
        everything = nodes(source)
        own = set(_in_functions(everything)) if is_global else set()
        for node in everything:
            match node:
                case ast.Name(ctx=ast.Store()) | ast.arg() if id(node) in own:
                    continue
                case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                    yield name
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                    yield name
                case ast.alias(name=name, asname=other):
                    yield other or name.partition(".")[0]
                case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                    yield name
                case ast.Constant(value=str(text)) if text.isidentifier():  # `globals()["name"]`, `setattr`
                    yield text
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    yield from names


def _in_functions(everything: Iterable[ast.AST]) -> Iterator[int]:
    """What stands in functions."""
    for node in everything:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from map(id, ast.walk(node))


_SHAPED = re.compile(r"\b(zeros|ones|full|rand|randn|empty|reshape|expand|tile|normal|uniform|randint|broadcast_to)\b")


def fixes(sources: Iterable[str], size: int) -> bool:
    """Whether code makes tensors of just so many samples, by a number or by a name of one."""
    texts = [source for source in sources if _SHAPED.search(source)]
    sized = {f"{size}"} | {
        one.id
        for source in texts
        for node in nodes(source)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value == size
        for one in node.targets
        if isinstance(one, ast.Name)
    }
    return any(_is_first(node, sized) for source in texts for node in nodes(source) if isinstance(node, ast.Call))


def _is_first(node: ast.Call, sized: set[str]) -> bool:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if not _SHAPED.fullmatch(called):
        return False
    given = [*node.args, *(word.value for word in node.keywords)]
    shapes = [one for one in given if isinstance(one, (ast.List, ast.Tuple)) and one.elts]
    firsts = [one.elts[0] for one in shapes] or given[:1]
    return any(str(getattr(one, "value", getattr(one, "id", ""))) in sized for one in firsts)
