"""How loaders and tensors of data that is not here came about: by which functions of the program, with what arguments.

`train_iter, vocab = load_data(batch_size)` gives a loader over arrays that such a function makes of a file. The loader
itself does not tell what its batches look like; the function does, when it is run again with samples made up
(`followed`). So does `source, target = tokenize(text)` of the tensors that are made of it: what a function was given of
such data is made again as well.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided import variants
from ...undecided.absent_data import Unseen, UnseenData, is_unseen

_MADE_BY = "_paddle_gpu_made_by"
"""The attribute of a loader that holds how it was made."""
_PARTS = 16
"""Entries of what a function gives that are looked at."""


@dataclass(frozen=True)
class Making:
    """One function that gave a value, with its arguments.

    Attributes:
        again: runs the function once more.
        place: where the value stands in what it gives: indices and keys, the outermost first.
    """

    again: Callable[[], Any]
    place: tuple[Any, ...]

    def __call__(self) -> Any:
        """The value made once more, while samples are made up only once."""
        session = current()
        made = {} if session is None else session.of(variants.Variants).made
        if id(self.again) not in made or isinstance(made[id(self.again)], Iterator):
            made[id(self.again)] = _called(self.again)
        value = made[id(self.again)]
        for key in self.place:
            value = value[key]
        return value


def remember(given: Any, again: Callable[[], Any]) -> None:
    """Keep how loaders of data that is not here were made, which a function gave alone or among other things."""
    for place, part in _parts(given, ()):
        if _wants_data(part):
            vars(part).setdefault(_MADE_BY, []).append(Making(again, place))


def of(value: Any) -> list[Making]:
    """How a value was made, the innermost function first."""
    return list(getattr(value, "__dict__", {}).get(_MADE_BY, ()))


def remember_statement(statement: ast.stmt, namespace: dict[str, Any], file: str) -> None:
    """Keep how a cell's statement made what it binds, which is not known now: `rows = [line.split() for line in
    lines]`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    loaded = {one.id for one in ast.walk(statement.value) if isinstance(one, ast.Name)}
    held = {name: namespace[name] for name in loaded if isinstance(namespace.get(name), Unseen)}
    code = compile(ast.Expression(statement.value), file, "eval")

    def again(**unseen: Any) -> Any:
        return eval(code, {**namespace, **unseen})

    remember(_bound(statement.targets[0], namespace), functools.partial(again, **held))


def _bound(target: ast.expr, namespace: dict[str, Any]) -> Any:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [_bound(one, namespace) for one in target.elts]
    return namespace.get(target.id) if isinstance(target, ast.Name) else None


def _called(again: Callable[[], Any]) -> Any:
    """What a function gives of what it was given, made again."""
    if not isinstance(again, functools.partial):
        return again()
    return again.func(*map(remade, again.args), **{name: remade(one) for name, one in again.keywords.items()})


def remade(value: Any) -> Any:
    """Data that is not here as the program makes it of what is made up; as it is where nobody knows how."""
    if type(value) in {list, tuple} and 0 < len(value) <= _PARTS:
        return type(value)(map(remade, value))
    if not isinstance(value, Unseen):
        return value
    for making in of(value):
        if variants.are_over():
            break
        with suppress(Exception):  # whatever the program's code makes of made-up data tells nothing
            found = making()
            if found is not None and not isinstance(found, Unseen):
                return found
    return _part_remade(value)


def _part_remade(value: Unseen) -> Any:
    """`data[0]` of data that is made again."""
    whole, label = value.__dict__["_of"], value.__dict__["_label"]
    if isinstance(whole, Unseen) and label.isdecimal():
        found = remade(whole)
        if isinstance(found, (list, tuple)) and int(label) < len(found):
            return found[int(label)]
    return value


def data_set_remade(data_set: Any) -> Any | None:
    """A data set with what it holds made again; None where it holds nothing that can be."""
    kind: Any = next(one for one in type(data_set).__mro__ if not issubclass(one, UnseenData))
    held = vars(data_set)
    made = {name: remade(value) for name, value in held.items() if is_unseen(value)}
    if not any(_differs(value, held[name]) for name, value in made.items()):
        return None
    again = copy.copy(data_set)
    again.__class__ = kind
    vars(again).update(made)
    return again


def _differs(made: Any, value: Any) -> bool:
    """Whether anything of a value was made again."""
    if type(value) in {list, tuple}:
        return any(map(_differs, made, value))
    return made is not value


def _parts(given: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(given, (list, tuple)) and len(given) <= _PARTS:
        for number, one in enumerate(given):
            yield from _parts(one, (*place, number))
    elif isinstance(given, dict) and len(given) <= _PARTS:
        for key, one in given.items():
            yield from _parts(one, (*place, key))
    else:
        yield place, given


def _wants_data(value: Any) -> bool:
    """Whether it gives batches of data that is not here."""
    if isinstance(value, Unseen):
        return True
    if isinstance(value, paddle.io.DataLoader):
        data_set = value.dataset
        held = list(getattr(data_set, "__dict__", {}).values())
        return isinstance(data_set, UnseenData) or any(map(is_unseen, held))
    return is_own(value) and any(map(is_unseen, vars(value).values()))


def is_own(value: Any) -> bool:
    """Whether it is a loader of the program's own class."""
    return call_stack.is_own(type(value)) and hasattr(type(value), "__iter__") and hasattr(value, "__dict__")
