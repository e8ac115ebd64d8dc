"""Expressions of a program that stand where a tensor's leading dimension does, or count the samples it is made of:
`paddle.rand([32, 13])`, `random.sample(memory, 32)`, `for i in range(0, n, 32)`, `x[i : i + 32]`, `if len(rows) == 32`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .. import syntax
from .batch_words import DIVIDES, REMAINS, SIZES_LAYERS

SHAPED = frozenset(
    ("rand", "randn", "zeros", "ones", "full", "empty", "uniform", "normal", "randint", "standard_normal", "random",
     "reshape", "random_sample", "gaussian", "integers", "choice", "choices", "sample")
)  # fmt: skip
"""Calls whose first size is that of the batch, or that draw so many samples (`random.sample(memory, 32)`)."""
_GATHERS = frozenset(("append", "extend", "insert", "add"))
_UPDATES = frozenset(("backward", "step", "minimize", "train_batch"))


def sizes_of_batches(tree: ast.Module) -> Iterator[ast.expr]:
    """All of a source. How often a loop goes round is a batch's size only where it gathers one."""
    rounds = {id(one) for node in syntax.walk(tree) if isinstance(node, ast.For) for one in _rounds(node)}
    for node in syntax.walk(tree):
        if isinstance(node, ast.Call):
            yield from _in_call(node, is_counted=id(node) in rounds)
        else:
            yield from _in_slice(node)


def called_by(node: ast.expr) -> str:
    """The last part of what is called."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _rounds(loop: ast.For) -> Iterator[ast.AST]:
    """What a loop goes over, where it trains or gathers nothing."""
    within = [part for statement in loop.body for part in ast.walk(statement)]
    calls = {called_by(one.func) for one in within if isinstance(one, ast.Call)}
    fills = any(isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript) for one in within)
    gathers = fills or not calls.isdisjoint(_GATHERS) or any(isinstance(one, ast.Yield) for one in within)
    if not gathers or not calls.isdisjoint(_UPDATES):
        yield from ast.walk(loop.iter)


def _in_call(node: ast.Call, *, is_counted: bool) -> Iterator[ast.expr]:
    called = called_by(node.func)
    if called == "range":
        if len(node.args) == 3 or (len(node.args) == 1 and not is_counted):
            yield node.args[-1]
    elif called in SHAPED:
        for value in [*node.args, *(word.value for word in node.keywords if word.arg in {"shape", "size"})]:
            yield value.elts[0] if isinstance(value, (ast.List, ast.Tuple)) and value.elts else value


def _in_slice(node: ast.AST) -> Iterator[ast.expr]:
    """What a slice of samples ends behind (`x[i : i + 32]`, `x[i * 32 : (i + 1) * 32]`, `x[:32]`), how far its loop
    goes (`i += 32`, `while i + 32 <= n`), and at how many a reader gives them out (`len(rows) == 32`)."""
    match node:
        case ast.Subscript(slice=ast.Slice() as part) | ast.Subscript(slice=ast.Tuple(elts=[ast.Slice() as part, *_])):
            for bound in (part.lower, part.upper):
                yield from _summands(bound) if bound is not None else ()
        case ast.AugAssign(op=ast.Add(), value=size):
            yield size
        case ast.Compare(left=ast.BinOp(op=ast.Add(), right=size), ops=[ast.Lt() | ast.LtE()]):
            yield size
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), comparators=[size]):
            yield size


_LAYER = re.compile(r"(^|\.)nn\.[A-Z]\w*$|^(Linear|Conv\dD\w*|Embedding|LSTM|GRU|SimpleRNN|\w+Norm(\dD)?)$")
"""Calls that make a layer; a schedule of learning rates may be made with how many batches there are."""


def divisors(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Into how many at a time samples may be divided (`n // 32`), or anything else; how often something may be done, be
    it that a batch is given out or a line printed (`k % 32 == 0`). Each with its operator."""
    whole = list(syntax.walk(tree))
    layers = (one for one in whole if isinstance(one, ast.Call) and _LAYER.search(ast.unparse(one.func)))
    within = {id(part) for one in layers for given in (*one.args, *one.keywords) for part in ast.walk(given)}
    for node in whole:
        match node:
            case ast.BinOp(op=ast.FloorDiv(), right=size):
                yield SIZES_LAYERS if id(node) in within else DIVIDES, size
            case ast.Compare(left=ast.BinOp(op=ast.Mod(), right=size)):
                yield REMAINS, size


def _summands(bound: ast.expr) -> Iterator[ast.expr]:
    if isinstance(bound, ast.BinOp):
        yield from _summands(bound.left)
        yield from _summands(bound.right)
    else:
        yield bound


class LeftOut(NamedTuple):
    """A parameter that a call of the program leaves to its default, and behind what of the call it could be given."""

    name: str
    line: int
    column: int


def left_out(tree: ast.Module, defaults: Mapping[str, Mapping[str, int]]) -> Iterator[LeftOut]:
    """What calls leave to defaults of functions that are imported: `make_loader(data)`.

    Args:
        defaults: `whole_defaults`.
    """
    for node in syntax.walk(tree):
        if not isinstance(node, ast.Call) or (known := defaults.get(called_by(node.func))) is None:
            continue
        given = [*node.args, *(word.value for word in node.keywords)]
        is_open = any(isinstance(one, (ast.Starred, ast.GeneratorExp)) for one in given)
        if is_open or any(word.arg is None for word in node.keywords):
            continue
        order = list(known)
        named = {*order[: len(node.args)], *(word.arg for word in node.keywords)}
        last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0), default=None)
        line, column = (node.end_lineno, (node.end_col_offset or 1) - 1) if last is None else (
            last.end_lineno, last.end_col_offset)  # fmt: skip
        for name, value in known.items():
            if value and name not in named and line is not None and column is not None:
                yield LeftOut(name, line, column)


def whole_defaults(trees: Iterable[ast.Module], size: int) -> dict[str, dict[str, int]]:
    """By the names of functions that modules hold: their parameters in order, with the default that is of this size, 0
    for any other; of two that are called alike nobody knows which is meant."""
    each = (one for tree in trees for one in tree.body if isinstance(one, ast.FunctionDef))
    functions = list({(one.name, ast.dump(one.args)): one for one in each}.values())  # a module may be known twice
    often = Counter(one.name for one in functions)
    found = {}
    for function in functions:
        taken = function.args
        given = dict(zip([one.arg for one in reversed(_placed(taken))], reversed(taken.defaults), strict=False))
        given |= {one.arg: value for one, value in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if value}
        held = {name for name, one in given.items() if isinstance(one, ast.Constant) and one.value == size}
        if held and often[function.name] == 1 and not taken.posonlyargs:
            order = [one.arg for one in (*_placed(taken), *taken.kwonlyargs)]
            found[function.name] = {name: size if name in held else 0 for name in order}
    return found


def _placed(taken: ast.arguments) -> list[ast.arg]:
    return [*taken.posonlyargs, *taken.args]
