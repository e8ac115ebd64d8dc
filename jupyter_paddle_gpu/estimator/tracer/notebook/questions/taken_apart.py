"""What code that goes through a loader does with a batch: how many things it takes out of it, by which names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

import paddle

from ...undecided.needs import UNNAMED_LOADER
from .. import syntax


def items(tree: ast.Module, loader: str) -> int:
    """How many things the loop over a loader takes out of a batch."""
    for node, target in _loops(tree, loader):
        if isinstance(target, ast.Tuple):
            return len(target.elts)
        if isinstance(target, ast.Name) and isinstance(node, ast.For):
            return _taken(node, target.id)
    returned = [len(node.value.elts) for part in syntax.walk(tree) if isinstance(part, ast.FunctionDef)
                and part.name == "__getitem__" for node in ast.walk(part)
                if isinstance(node, ast.Return) and isinstance(node.value, (ast.Tuple, ast.List))]  # fmt: skip
    return returned[0] if returned else 0


def unpacked(tree: ast.Module, loader: str) -> tuple[str, ...]:
    """The names that the loop over a loader gives to the things of a batch."""
    for node, target in _loops(tree, loader):
        bound = [target]
        if isinstance(target, ast.Name):
            within = [part for part in ast.walk(node) if isinstance(part, ast.Assign)]
            bound = [part.targets[0] for part in within if _goes_through(part.value, target.id)]
        for one in bound:
            if isinstance(one, ast.Tuple) and all(isinstance(part, ast.Name) for part in one.elts):
                return tuple(part.id for part in one.elts if isinstance(part, ast.Name))
    return next(_of_first_batch(tree, loader), ())


def _of_first_batch(tree: ast.Module, loader: str) -> Iterator[tuple[str, ...]]:
    """The same of one batch that is looked at: `pictures, labels = next(iter(loader))`."""
    for node in syntax.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=elts)], value=ast.Call(func=ast.Name(id="next"), args=[iterated])
            ) if _is_over(iterated, loader):
                names = tuple(one.id for one in elts if isinstance(one, ast.Name))
                yield from [names] if len(names) == len(elts) else []


def _loops(tree: ast.Module, loader: str) -> Iterator[tuple[ast.For | ast.comprehension, ast.expr]]:
    """The loops over a loader, each with what it binds a batch to."""
    for node in syntax.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)) and _is_over(node.iter, loader):
            target = node.target
            if "enumerate" in ast.dump(node.iter) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                target = target.elts[1]
            yield node, target


def _is_over(iterated: ast.expr, loader: str) -> bool:
    """Whether a loop goes through a loader; one without a name is made where it begins."""
    text = ast.dump(iterated)
    is_named = f"'{loader}'" in text or (len(loader) > _SHORT and loader in text)
    return is_named or (loader == UNNAMED_LOADER and "DataLoader" in text)


_SHORT = 2
"""Letters of a name that may stand in any other."""


def keys(tree: ast.Module, loader: str) -> tuple[str, ...]:
    """The names by which a loop takes things out of a batch (`batch["image"]`, `batch.image`), also in a function or a
    network that it hands the batch to, else those of a sample that the program makes (`return {"image": image}`)."""
    functions = [one for one in syntax.walk(tree) if isinstance(one, ast.FunctionDef)]
    for node, target in _loops(tree, loader):
        if not isinstance(target, ast.Name):
            continue
        taking = [(one, _parameter(one, number)) for called, number in _uses(node, target.id)
                  for one in functions if one.name in {called, "forward"}]  # fmt: skip
        within = (_named(one, name) for one, name in taking if name is not None)
        if found := (*next(filter(None, within), ()), *_named(node, target.id)):
            return tuple(dict.fromkeys(found))
    returned = (
        one.value for part in functions if part.name == "__getitem__" for one in ast.walk(part)
        if isinstance(one, ast.Return)
    )  # fmt: skip
    for value in returned:
        keys = [one.value for one in value.keys if isinstance(one, ast.Constant)] if isinstance(value, ast.Dict) else []
        if keys and all(isinstance(one, str) for one in keys):
            return tuple(map(str, keys))
    return ()


def _named(node: ast.AST, name: str) -> tuple[str, ...]:
    """By which names code takes things out of what a name is bound to, as keys or else as attributes, in their order;
    what a tensor has as well, and methods, tell nothing."""
    parts = list(ast.walk(node))
    called = {id(one.func) for one in parts if isinstance(one, ast.Call)}
    outer = {id(one.value) for one in parts if isinstance(one, ast.Subscript) and _way(one, name)}
    keys, attributes = list[tuple[int, int, str]](), list[tuple[int, int, str]]()
    for part in parts:
        match part:
            case ast.Subscript(ctx=ast.Load()) if id(part) not in outer and (way := _way(part, name)):
                keys.append((part.lineno, part.col_offset, way))
            case ast.Attribute(value=ast.Name(id=held), attr=attr, ctx=ast.Load()):
                tells = held == name and id(part) not in called and not hasattr(paddle.Tensor, attr)
                attributes += [(part.lineno, part.col_offset, attr)] if tells else []
    return tuple(dict.fromkeys(one for *_, one in sorted(keys or attributes)))


def _way(node: ast.expr, name: str) -> str:
    """By which keys a thing is taken out of what a name is bound to, with dots between them (`batch["a"]["b"]`); empty
    where it is not."""
    keys: list[str] = []
    while (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    ):
        keys.append(node.slice.value)
        node = node.value
    is_of_name = isinstance(node, ast.Name) and node.id == name
    return ".".join(reversed(keys)) if is_of_name and (len(keys) == 1 or all(map(str.isidentifier, keys))) else ""


def takes_one(trees: Iterable[ast.Module], loader: str) -> bool:
    """Whether a loop over a loader does with a batch what only one tensor bears: `frames[:, :10]`, `x.astype(...)`."""
    for node, target in (one for tree in trees for one in _loops(tree, loader) if loader):
        if isinstance(target, ast.Name):
            return any(_is_of_tensor(part, target.id) for part in ast.walk(node))
    return False


def _is_of_tensor(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=held), slice=ast.Tuple()):
            return held == name
        case ast.Attribute(value=ast.Name(id=held), attr=attr):
            return held == name and attr in _OF_A_TENSOR
        case ast.BinOp(left=ast.Name(id=held)) | ast.BinOp(right=ast.Name(id=held)):
            return held == name
    return False


_OF_A_TENSOR = frozenset(("astype", "cast", "reshape", "transpose", "shape", "unsqueeze", "flatten"))
"""What is asked of a tensor and of no list of them."""


def _taken(loop: ast.AST, name: str) -> int:
    """How many items `x, y = batch`, `batch[1]` speak of."""
    most = 0
    for node in ast.walk(loop):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=elts)], value=value) if _goes_through(value, name):
                return len(elts)
            case ast.Subscript(value=ast.Name(id=held), slice=ast.Constant(value=int() as index)) if held == name:
                most = max(most, index + 1)
            case ast.Subscript(value=ast.Name(id=held), slice=ast.Tuple()) if held == name:
                return 1  # `batch[:, :-1]`: one array
            case ast.Assign(targets=[ast.Name()], value=ast.Name(id=held)) if held == name:
                most = max(most, 1)  # `picture = batch`
            case ast.Attribute(value=ast.Name(id=held), attr=attr) if held == name and attr in _OF_A_TENSOR:
                return 1  # `batch.astype("float32")`
            case ast.Call(func=ast.Attribute(attr="to_tensor"), args=[ast.Name(id=held), *_]) if held == name:
                return 1
    return most


def _goes_through(value: ast.expr, name: str) -> bool:
    """Whether a value has one thing for each of a name's: `batch`, `[one.astype("int64") for one in batch]`."""
    match value:
        case ast.Name(id=held):
            return held == name
        case ast.ListComp(generators=[ast.comprehension(iter=ast.Name(id=held), ifs=[])]):
            return held == name
        case ast.GeneratorExp(generators=[ast.comprehension(iter=ast.Name(id=held), ifs=[])]):
            return held == name
        case ast.Call(func=ast.Name(id="map"), args=[_, ast.Name(id=held)]):
            return held == name
    return False


def passed_on(trees: Iterable[ast.Module], loader: str) -> tuple[int, bool]:
    """Of a loop that hands a batch on (`model(batch)`): how many things the program's own function takes out of it, 0
    where none tells; and whether, as far as the code shows, it is one tensor."""
    parts = [part for tree in trees for part in syntax.walk(tree)]
    own: dict[str, list[ast.FunctionDef]] = {}
    for part in parts:
        if isinstance(part, ast.FunctionDef):
            own.setdefault(part.name, []).append(part)
    loops = (part for part in parts if isinstance(part, ast.For) and _is_over(part.iter, loader))
    for loop in loops:
        target = _batch_of(loop)
        uses = () if target is None else _uses(loop, target)
        for called, number in uses:
            if called is None:
                return 0, True
            if called in vars(builtins):
                continue
            taking = [*own.get(called, ()), *own.get("forward", ())]
            counts = [_taken(one, name) for one in taking if (name := _parameter(one, number)) is not None]
            return (max(counts), False) if any(counts) else (0, True)
    return 0, False


def _batch_of(loop: ast.For) -> str | None:
    target = loop.target
    if "enumerate" in ast.dump(loop.iter) and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    return target.id if isinstance(target, ast.Name) else None


def _uses(loop: ast.AST, name: str) -> Iterator[tuple[str | None, int]]:
    """By what name a thing is called with `name`, and as which argument; without a name where numbers are computed."""
    for node in ast.walk(loop):
        match node:
            case ast.BinOp(left=ast.Name(id=held)) | ast.BinOp(right=ast.Name(id=held)) if held == name:
                yield None, 0
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args):
                for number, given in enumerate(args):
                    if isinstance(given, ast.Name) and given.id == name:
                        yield called, number


def _parameter(function: ast.FunctionDef, number: int) -> str | None:
    """The name of a function's argument, of a method's behind its object."""
    names = [one.arg for one in function.args.args]
    names = names[1:] if names[:1] == ["self"] else names
    return names[number] if number < len(names) else None
