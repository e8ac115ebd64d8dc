"""Programs with one fault each: a place in the source is changed as a person might get it wrong.

Which places and how is drawn by a seed; the change is made in the text, so that lines stay where they are.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from typing import NamedTuple

DTYPES = ("float32", "float64", "float16", "int64", "int32", "bool")
_AXES = frozenset(("axis", "dim", "start_axis", "stop_axis", "axes"))


class Change(NamedTuple):
    """A piece of the source from `start` to `end` and what stands there instead; `kind` says what was done."""

    kind: str
    start: int
    end: int
    text: str


class Mutant(NamedTuple):
    """A program with a fault, and the kind of it."""

    kind: str
    source: str


def mutants(source: str, count: int, dice: random.Random) -> Iterator[Mutant]:
    """So many different programs with a fault, kinds taken in turn as far as there are places for them."""
    by_kind: dict[str, list[Change]] = {}
    for change in changes(source, dice):
        by_kind.setdefault(change.kind, []).append(change)
    for found in by_kind.values():
        dice.shuffle(found)
    kinds = sorted(by_kind)
    dice.shuffle(kinds)
    while count > 0 and kinds:
        for kind in list(kinds):
            if not by_kind[kind]:
                kinds.remove(kind)
            elif count > 0:
                change = by_kind[kind].pop()
                yield Mutant(kind, source[: change.start] + change.text + source[change.end :])
                count -= 1


def changes(source: str, dice: random.Random) -> Iterator[Change]:
    """All places where something can be wrong, each with one way to have it wrong."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    if not source.isascii():
        return

    def span(node: ast.expr | ast.keyword | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    tree = ast.parse(source)
    owners = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                owner = owners.get(id(node))
                if (isinstance(owner, ast.keyword) and owner.arg in _AXES) or (
                    number in {-1, 0} and _is_argument(owner)
                ):
                    yield Change("axis", *span(node), str(dice.choice([number + 5, number - 6, 2, 7])))
                elif _is_argument(owner):
                    choices = [number + 1, number - 1, 2 * number, number // 2, number + 3, 0, -number]
                    yield Change("dimension", *span(node), str(dice.choice([n for n in choices if n != number])))
            case ast.Constant(value=str(text)) if text in DTYPES:
                yield Change("dtype", *span(node), repr(dice.choice([name for name in DTYPES if name != text])))
            case ast.Constant(value=str(text)) if isinstance(owners.get(id(node)), ast.keyword) and text:
                yield Change("attribute", *span(node), repr(dice.choice([text + "_", text.upper() + "x", ""])))
            case ast.Call():
                yield from _of_call(source, node, span, dice)
            case ast.Attribute(attr=name) if len(name) > 3:
                _, end = span(node)
                yield Change("name", end - len(name), end, name[:2] + name[3] + name[2] + name[4:] + "x")
            case ast.Expr(value=ast.Call()) | ast.Assign(value=ast.Call()):
                yield Change("missing call", *span(node), "pass")


def _of_call(source: str, node: ast.Call, span, dice: random.Random) -> Iterator[Change]:  # type: ignore[no-untyped-def]
    given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    if given and not any(isinstance(one, ast.GeneratorExp) for one in given):
        place = dice.randrange(len(given))
        start, end = span(given[place])
        following = span(given[place + 1])[0] if place + 1 < len(given) else end
        before = span(given[place - 1])[1] if place and place + 1 == len(given) else start
        yield Change("missing argument", before, following, "")
        yield Change("argument", *span(node.args[0] if node.args else given[0]), _wrong(source, given[0], span, dice))
        yield Change("surplus argument", end, end, dice.choice([", wrong=1", ", None", ", 3"]))
    if len(node.args) > 1:
        (a, b), (c, d) = span(node.args[0]), span(node.args[1])
        yield Change("swapped arguments", a, d, source[c:d] + source[b:c] + source[a:b])
    if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Constant):
        inner = node.func.value
        is_method = isinstance(inner, (ast.Call, ast.Subscript)) or (isinstance(inner, ast.Name) and len(inner.id) == 1)
        kept = source[slice(*span(inner))] if is_method else source[slice(*span(node.args[0]))] if node.args else ""
        if kept:
            yield Change("missing call", *span(node), kept)
    elif isinstance(node.func, ast.Attribute) is False and node.args:
        yield Change("missing call", *span(node), source[slice(*span(node.args[0]))])


def _wrong(source: str, given: ast.expr | ast.keyword, span, dice: random.Random) -> str:  # type: ignore[no-untyped-def]
    name = f"{given.arg}=" if isinstance(given, ast.keyword) and given.arg else ""
    return name + dice.choice(["None", "'wrong'", "[1, 2]", "1.5", "3"])


def _is_argument(owner: ast.AST | None) -> bool:
    return isinstance(owner, (ast.Call, ast.keyword, ast.List, ast.Tuple))
