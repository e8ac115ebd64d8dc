"""Numbers of the code by their names, wherever they stand, and those that data is cut or sampled by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ...sites import name_of
from ...syntax import nodes
from ..hints import Hints

_SAMPLES = re.compile(r"(?i)^choice$|sampl(e|ing)")
_BATCH = re.compile(r"(?i)batch|^b(s|sz)?$")
_LEAST = 16
"""Rows below which a number is rather one of columns or of classes."""


def all_numbers(found: Hints) -> dict[str, float]:
    """Numbers by name: what names hold, what calls give, by name or in their order, and what functions take where
    nothing is given."""
    known: dict[str, float] = dict(found.numbers)
    taken = {name: args for source in found.sources for node in nodes(source) for name, args in _taken_by(node)}
    for node in (node for source in found.sources for node in nodes(source)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
                _keep(known, name, value)
            case ast.keyword(arg=str(name), value=value):
                _keep(known, name, value)
            case ast.arguments(args=args, defaults=defaults):
                for one, value in zip(args[len(args) - len(defaults) :], defaults, strict=True):
                    _keep(known, one.arg, value)
            case ast.Call(func=ast.Name(id=called), args=args) if called in taken:
                for name, value in zip(taken[called], args, strict=False):
                    _keep(known, name, value)
    return known


def _taken_by(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """By the name of a function of the program's own, or of a class, what a call of it gives in order."""
    match node:
        case ast.FunctionDef(name=name, args=taken):
            yield name, [one.arg for one in taken.args]
        case ast.ClassDef(name=name, body=body):
            made = (one for one in body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
            yield from ((name, [one.arg for one in init.args.args[1:]]) for init in made)


def _keep(known: dict[str, float], name: str, value: ast.expr) -> None:
    match value:
        case ast.Constant(value=int() | float() as number) if number is not True and number is not False:
            known.setdefault(name, number)
        case ast.Name(id=other) if other in known:
            known.setdefault(name, known[other])


def cuts(found: Hints) -> list[int]:
    """How many rows the code leaves of what it reads: `cloud[0:self.points]`, `np.random.choice(len(cloud), 1024)`."""
    known = all_numbers(found)
    given = (one for source in found.sources for node in nodes(source) for one in _cut_by(node))
    numbers = (number for one in given if (number := _number(one, known)) >= _LEAST)
    return list(dict.fromkeys(numbers))


def windows(found: Hints) -> list[int]:
    """How long the parts are that the code takes out of a series: `values[i : i + 96]`, `values[i + 96 : i + 96 + 24]`;
    no batches, by whose size the loop goes on (`for i in range(0, n, size)`)."""
    steps, given = set[str](), list[ast.expr]()
    for node in (node for source in found.sources for node in nodes(source)):
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[_, _, step]):
                steps.add(ast.dump(step))
            case ast.Slice(lower=ast.expr() as lower, upper=ast.BinOp(first, ast.Add(), width), step=None):
                given += [width] if ast.dump(lower) == ast.dump(first) else []
    known = all_numbers(found)
    numbers = (_number(one, known) for one in given if ast.dump(one) not in steps and not _BATCH.search(_said(one)))
    return list(dict.fromkeys(number for number in numbers if number > 1))


def _said(node: ast.expr) -> str:
    """The last name of an expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _cut_by(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Subscript(slice=ast.Slice(lower=None | ast.Constant(value=0), upper=ast.expr() as upper, step=None)):
            yield upper
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(upper=ast.expr() as upper, step=None), *_])):
            yield upper
        case ast.Call(func=func, args=args, keywords=words) if _SAMPLES.search(name_of(func)):
            yield from args[1:]
            yield from (word.value for word in words)


def _number(node: ast.expr, known: Mapping[str, float]) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return int(number)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            held = known.get(name, 0)
            return held if isinstance(held, int) else 0
    return 0
