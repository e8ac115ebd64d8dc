"""Where the notebook's code stands that runs now: its cell and line, and what the statement there does."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

import paddle

from .. import call_stack

STEPS = frozenset(("backward", "minimize", "train_batch"))
"""Methods whose calls are a part of one step."""
TRAINING = STEPS | {"clear_grad", "clear_gradients"}
"""Methods by whose calls a loop trains."""
_LOOPS = (ast.For, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def frames() -> Iterator[FrameType]:
    """The frames of cells that run, the innermost first."""
    frame = call_stack.caller()
    while frame is not None:
        if call_stack.is_cell(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def place() -> tuple[int | None, int | None]:
    """Cell and line that run."""
    for frame in frames():
        if (cell := call_stack.cell_of(frame.f_code.co_filename)) is not None:
            return cell, frame.f_lineno
    return None, None


def is_trained_on() -> bool:
    """Whether the notebook's running code is directly in a loop that trains, or in a function that is one step of it: a
    reader that such a loop goes through has loops of its own, of which nobody is to know anything."""
    frame = next(frames(), None)
    if frame is None:
        return False
    around = _around(frame, (ast.For,))
    return any(getattr(one, "attr", "") in TRAINING for loop in around for one in ast.walk(loop)) or is_a_step()


def is_a_step() -> bool:
    """Whether the notebook's running code is that of a function which is one step: its backward pass stands in no loop
    but those that run now."""
    frame = next(frames(), None)
    if frame is None or frame.f_code.co_name == "<module>":
        return False
    name = frame.f_code.co_name
    function = next((one for one in _around(frame, _FUNCTIONS) if one.name == name), None)
    return function is not None and frame.f_lineno <= _last_step(function, frozenset(map(id, _around(frame, _LOOPS))))


def _last_step(node: ast.AST, running: frozenset[int]) -> int:
    """The line of the last call that is a part of a step, outside of inner functions and of loops that do not run."""
    found = 0
    for part in ast.iter_child_nodes(node):
        if isinstance(part, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)) or (
            isinstance(part, _LOOPS) and id(part) not in running
        ):
            continue
        is_step = isinstance(part, ast.Call) and getattr(part.func, "attr", "") in STEPS
        found = max(found, _last_step(part, running), part.lineno if is_step else 0)  # type: ignore[attr-defined]
    return found


def _around(frame: FrameType, kinds: tuple[type[ast.AST], ...]) -> list[Any]:
    """The statements of some kinds in which the line stands that a frame runs."""
    blocks = _blocks("".join(linecache.getlines(frame.f_code.co_filename)))
    line = frame.f_lineno
    return [one for one in blocks if isinstance(one, kinds) and one.lineno <= line <= (one.end_lineno or line)]  # type: ignore[attr-defined]


def may_make_an_optimizer() -> bool:
    """Whether an optimizer may come of what runs now: one of the running loops calls something of that name, or none
    runs. What it only asks for (`isinstance(updater, paddle.optimizer.Optimizer)`) makes none."""
    loops = [loop for frame in _program() for loop in _around(frame, _LOOPS)]
    called = (one.func for loop in loops for one in ast.walk(loop) if isinstance(one, ast.Call))
    return not loops or any("optim" in ast.unparse(one).lower() for one in called)


def _program() -> Iterator[FrameType]:
    """The frames of the program, the innermost first: of cells, and of modules of its own that run as they are."""
    frame = call_stack.caller()
    while frame is not None:
        if not frame.f_code.co_filename.startswith((call_stack.PADDLE, call_stack.TRACER)):
            yield frame
            if frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


@lru_cache(maxsize=64)
def nodes_in(source: str) -> tuple[ast.AST, ...]:
    """All nodes of a source; none where it is no Python."""
    try:
        return tuple(ast.walk(ast.parse(source)))
    except SyntaxError:
        return ()


@lru_cache(maxsize=64)
def _blocks(source: str) -> tuple[ast.AST, ...]:
    """The loops and functions of a source: a hundredth of its nodes."""
    return tuple(one for one in nodes_in(source) if isinstance(one, (*_FUNCTIONS, *_LOOPS)))


def paddle_asks() -> bool:
    """Whether Paddle's own code stands between the notebook and what is needed."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(call_stack.PADDLE):
            return True
        frame = frame.f_back
    return False


def asks_for_a_place() -> bool:
    """Whether what is needed is a place along an axis of a tensor (`weight[vocab["chip"]]`), or may be one: Paddle asks
    each part of an index whether it is an ellipsis before anything else."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_name == "replace_ellipsis":
            return True
        frame = frame.f_back
    return False


def makes_a_layer(*, counts: bool) -> bool:
    """Whether what is needed is needed for a layer: by Paddle, by a library's constructor, or, where it `counts`, by
    the statement that makes so many."""
    return paddle_asks() or _library_makes_a_layer() or (counts and program_makes_a_layer())


def _library_makes_a_layer() -> bool:
    """Whether a library's constructor or class method of a layer stands between the notebook and what is needed: its
    configuration asks for a size before Paddle does (`from_pretrained(name, num_classes=len(labels))`)."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        kind = first if issubclass(type(first), type) else type(first) if code.co_name == "__init__" else object
        if issubclass(kind, paddle.nn.Layer):  # type: ignore[arg-type]
            return True
        frame = frame.f_back
    return False


def program_makes_a_layer() -> bool:
    """Whether the running statement of the notebook makes layers, so that how many there are may be what is needed:
    `[nn.Linear(width, width) for _ in range(config["layers"])]`."""
    frame = next(frames(), None)
    if frame is None:
        return False
    line, nodes = frame.f_lineno, nodes_in("".join(linecache.getlines(frame.f_code.co_filename)))
    running = [one for one in nodes if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or line)]
    statement = min(running, key=lambda one: (one.end_lineno or line) - one.lineno, default=None)
    called = (one.func for one in ast.walk(statement) if isinstance(one, ast.Call)) if statement is not None else ()
    return any(_is_layer(one, frame) for one in called)


def _is_layer(function: ast.expr, frame: FrameType) -> bool:
    """Whether a name is that of a class of layers: `Block`, `nn.Linear`, `paddle.nn.Linear`."""
    match function:
        case ast.Name(id=name):
            found = {**frame.f_globals, **frame.f_locals}.get(name)
        case ast.Attribute():
            path = ast.unparse(function).split(".")
            found = {**frame.f_globals, **frame.f_locals}.get(path[0])
            for name in path[1:]:
                found = getattr(found, name, None) if isinstance(found, ModuleType) else None
        case _:
            return False
    return isinstance(found, type) and issubclass(found, paddle.nn.Layer)


def layer_asks() -> bool:
    """Whether a layer's `forward` stands between the notebook and what is needed: it is a tensor then."""
    frame = call_stack.caller()
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_name == "forward" and frame.f_code.co_filename.startswith(call_stack.PADDLE):
            return True
        frame = frame.f_back
    return False


def sized(value: Any) -> str:
    """What the constructor of Paddle's that runs calls a value that it was given; empty where none was."""
    frame, found = call_stack.caller(), ""
    while frame is not None and not call_stack.is_cell(frame.f_code.co_filename):
        if frame.f_code.co_name == "__init__" and frame.f_code.co_filename.startswith(call_stack.PADDLE):
            named = (name for name, held in frame.f_locals.items() if held is value)
            found = next((name for name in named if not name.startswith("_")), found)
        frame = frame.f_back
    return found


def writes_text(frame: FrameType) -> bool:
    """Whether a line of the notebook writes text into a file: `file.write(str(words))`."""
    if not call_stack.is_cell(frame.f_code.co_filename):
        return False
    lines = linecache.getlines(frame.f_code.co_filename)[frame.f_lineno - 1 : frame.f_lineno]
    return any(_WRITES.search(line) for line in lines)


_WRITES = re.compile(r"\.write(lines)?\(")


def assigned() -> str:
    """The name or attribute that the running statement of the notebook assigns; empty where it assigns none."""
    target = _target()
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def is_one_of_several() -> bool:
    """Whether the tensor that is made now is handed to a call beside others that are made there: `loss = loss_of(net(
    paddle.to_tensor(x)), paddle.to_tensor(y))`. What the statement assigns is none of them."""
    found = _assignment()
    at = None if found is None else _position(found[1])
    if found is None or at is None:
        return False
    calls = [one for one in ast.walk(found[0].value) if isinstance(one, ast.Call)]
    made = [one for one in calls if getattr(one.func, "attr", "") == "to_tensor"]
    return len(made) > 1 and any(_holds(given, at) for one in calls if one not in made for given in one.args)


def is_held() -> bool:
    """Whether the running statement of the notebook assigns a data set or a loader of tensors that it makes."""
    found = _assignment()
    calls = [] if found is None else [one.func for one in ast.walk(found[0].value) if isinstance(one, ast.Call)]
    return any(_HOLDS.search(getattr(one, "attr", getattr(one, "id", ""))) for one in calls)


_HOLDS = re.compile(r"Data[sS]et$|DataLoader$")


def kept() -> str:
    """The attribute of an object that the running statement assigns; empty where it assigns none."""
    target = _target()
    return target.attr if isinstance(target, ast.Attribute) else ""


def _target() -> ast.expr | None:
    """What the running statement of the notebook assigns first."""
    found = _assignment()
    return None if found is None else _of_part(found[0].targets[0], found[0].value, found[1])


def _assignment() -> tuple[ast.Assign, FrameType] | None:
    """The running statement of the notebook, where it assigns something, and the frame that runs it."""
    for frame in frames():
        line = frame.f_lineno
        nodes = nodes_in("".join(linecache.getlines(frame.f_code.co_filename)))
        here = [one for one in nodes if isinstance(one, ast.Assign) and one.lineno <= line <= (one.end_lineno or line)]
        at = _position(frame) if len(here) > 1 else None  # `x = first(); y = second()`
        return next(((one, frame) for one in here if at is None or _holds(one, at)), None)
    return None


def _position(frame: FrameType) -> tuple[int, int] | None:
    """The line and the column that run; None before Python 3.11."""
    places = getattr(frame.f_code, "co_positions", None)
    line, _, column, _ = (
        (None,) * 4 if places is None else next(islice(places(), frame.f_lasti // 2, None), (None,) * 4)
    )
    return None if line is None else (line, column or 0)


def _holds(part: ast.stmt | ast.expr, at: tuple[int, int]) -> bool:
    return (part.lineno, part.col_offset) <= at < (part.end_lineno or 0, part.end_col_offset or 0)


def _of_part(target: ast.expr, value: ast.expr, frame: FrameType) -> ast.expr:
    """What the part of a statement is bound to that runs: of `x, y = one(), other()` one name, where Python tells."""
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)) or (at := _position(frame)) is None:
        return target
    pairs = zip(target.elts, value.elts, strict=False)
    return next((name for name, part in pairs if _holds(part, at)), target)


def makes_tensors(value: ast.expr | None) -> bool:
    """Whether an expression is a tensor made of numbers, or holds such: `[paddle.to_tensor(row) for row in rows]`,
    `TensorDataset([paddle.to_tensor(rows)])`."""
    match value:
        case ast.Call(func=ast.Attribute(attr="to_tensor")):
            return True
        case ast.Call(func=ast.Attribute(attr="TensorDataset") | ast.Name(id="TensorDataset"), args=parts):
            return any(map(makes_tensors, parts))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return any(map(makes_tensors, parts))
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
            return makes_tensors(part)
    return False


def tensors_kept(code: CodeType) -> Iterator[str]:
    """The attributes to which a method of the program's binds tensors that it makes of numbers, or lists of them."""
    nodes = nodes_in("".join(linecache.getlines(code.co_filename)))
    first, last = code.co_firstlineno, max((line for _, _, line in code.co_lines() if line), default=0)
    for node in nodes:
        if first <= getattr(node, "lineno", 0) <= last:
            targets = (one for one in tensors_made(node) if isinstance(one, ast.Attribute))
            yield from (target.attr for target in targets)


FILLS = frozenset(("append", "extend", "add", "update", "insert", "setdefault"))
"""Methods that put something into what they are called on."""


def tensors_made(node: ast.AST) -> list[ast.expr]:
    """What a statement or a call binds to tensors that it makes of numbers, or fills with such."""
    match node:
        case ast.Assign(targets=targets, value=value) if makes_tensors(value):
            parts = (part for one in targets for part in (one.elts if isinstance(one, ast.Tuple) else [one]))
            return [whole(part) for part in parts]
        case ast.Call(func=ast.Attribute(value=held, attr=method), args=[*_, given]) if method in FILLS:
            return [held] if makes_tensors(given) else []
    return []


def whole(node: ast.expr) -> ast.expr:
    """What an item is one of, or of whose items one: `counts` of `counts[i][word]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
