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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any

import paddle

from ... import call_stack
from ...session import current
from ...undecided import variants
from ...undecided.absent_data import Unseen, is_unseen
from ...undecided.unseen_data import UnseenData
from . import constructed, read_names

_MADE_BY = "_paddle_gpu_made_by"
"""The attribute of a loader that holds how it was made."""
_UNDER_WAY = object()
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
        key = id(self.again)
        if key in made and made[key][1] is _UNDER_WAY:
            raise RecursionError  # what it is made of is made of it: that stays as it is
        if key not in made or isinstance(made[key][1], Iterator):
            # The function is kept beside what it made: one that is made after it is gone may have its number.
            made[key] = self.again, _UNDER_WAY
            try:
                made[key] = self.again, _called(self.again)
            except Exception:
                del made[key]
                if session is not None:
                    session.of(variants.Variants).failures += 1
                raise
        value = made[key][1]
        for part in self.place:
            value = value[part]
        return value


def is_of_model(making: Making) -> bool:
    """Whether a layer or an optimizer takes part in it: what it gives is no data, and to run it might train."""
    again = making.again
    given = [*again.args, *again.keywords.values()] if isinstance(again, functools.partial) else []
    names = again.reads() if isinstance(again, _Statement) else read_names.read_by(again)
    held = [part for one in given if call_stack.is_own(type(one)) for part in getattr(one, "__dict__", {}).values()]
    read = (space[name] for space, name in names)
    return any(isinstance(one, (paddle.nn.Layer, paddle.optimizer.Optimizer)) for one in (*given, *held, *read))


def remember(given: Any, again: Callable[[], Any]) -> None:
    """Keep how loaders of data that is not here were made, which a function gave alone or among other things."""
    for place, part in _parts(given, ()):
        if _wants_data(part):
            vars(part).setdefault(_MADE_BY, []).append(Making(again, place))


def of(value: Any) -> list[Making]:
    """How a value was made, the innermost function first."""
    return list(getattr(value, "__dict__", {}).get(_MADE_BY, ()))


def remember_statement(statement: ast.stmt, namespace: dict[str, Any], before: dict[str, Any], file: str) -> None:
    """Keep how a cell's statement made what it binds, which is not known now: `rows = [line.split() for line in
    lines]`.

    Args:
        before: what it binds, as it was before it ran.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    bound = _bound(statement.targets[0], namespace)
    unseen = [one for _, one in _parts(bound, ()) if isinstance(one, Unseen)]
    if all(map(of, unseen)):
        return  # another name for what is remembered already, if anything
    code = compile(ast.Expression(statement.value), file, "eval")
    held = {name: value for name, value in before.items() if isinstance(value, Unseen)}
    remember(bound, _Statement(code, namespace, held))


@dataclass(frozen=True, eq=False)
class _Statement:
    """What a cell's statement binds, by names of which those that are not known are made again."""

    code: CodeType
    names: dict[str, Any]
    before: dict[str, Any]
    """Of those that it binds (`text = text.lower()`), what they were before."""

    def __call__(self) -> Any:
        before = {name: remade(value) for name, value in self.before.items()}
        with globals_remade(self.reads()):
            return eval(self.code, {**self.names, **before})

    def reads(self) -> Iterator[tuple[dict[str, Any], str]]:
        """The names that it reads."""
        return read_names.read(self.code, self.names)


def _bound(target: ast.expr, namespace: dict[str, Any]) -> Any:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [_bound(one, namespace) for one in target.elts]
    return namespace.get(target.id) if isinstance(target, ast.Name) else None


def _called(again: Callable[[], Any]) -> Any:
    """What a function gives of what it was given, made again."""
    if not isinstance(again, functools.partial):
        return again()
    args, named = [*map(remade, again.args)], {name: remade(one) for name, one in again.keywords.items()}
    with globals_remade(read_names.read_by(again.func)):
        return again.func(*args, **named)


@contextmanager
def globals_remade(names: Iterable[tuple[dict[str, Any], str]]) -> Iterator[bool]:
    """Have names of the program hold data that is made again, where they are of data that is not here.

    Args:
        names: those that the code reads which runs now, each with the module's or notebook's names it is one of.

    Yields:
        Whether any is made again.
    """
    held = [(space, name, space[name]) for space, name in names if _may_be_remade(space[name])]
    try:
        for space, name, value in held:
            space[name] = remade(value)
        yield any(space[name] is not value for space, name, value in held)
    finally:
        for space, name, value in held:
            space[name] = value


def _may_be_remade(value: Any) -> bool:
    if isinstance(value, Unseen):
        return bool(of(value)) or isinstance(value.__dict__["_of"], Unseen)
    return is_unseen(value) or (constructed.holds_data(value) and not isinstance(value, UnseenData))


def remade(value: Any) -> Any:
    """Data that is not here as the program makes it of what is made up; as it is where nobody knows how."""
    if type(value) in {list, tuple} and 0 < len(value) <= _PARTS:
        return type(value)(map(remade, value))
    if not isinstance(value, Unseen):
        return _object_remade(value) if constructed.holds_data(value) else value
    for making in of(value):
        if variants.are_over():
            break
        with suppress(Exception):  # whatever the program's code makes of made-up data tells nothing
            found = making()
            if found is not None and not isinstance(found, Unseen) and not _is_by_tokens(found):
                return _AnyKey(found) if type(found) in {dict, defaultdict} and found else found
    return _part_remade(value)


class _AnyKey(dict[Any, Any]):
    """Records of made-up data by their numbers: those of whichever is looked up."""

    def __missing__(self, key: Any) -> Any:
        return next(iter(self.values()))


def _is_by_tokens(value: Any) -> bool:
    """Whether it is a vocabulary of what was made up: nothing that is made up later is found in it."""
    return isinstance(value, dict) and isinstance(next(iter(value), None), Unseen)


def _part_remade(value: Unseen) -> Any:
    """`data[0]` and `data[:, 1:]` of data that is made again."""
    whole, index = value.__dict__["_of"], value.__dict__["_index"]
    if isinstance(whole, Unseen) and index is not None:
        found = remade(whole)
        if not isinstance(found, Unseen):
            with suppress(Exception):  # as above
                return found[_index_remade(index)]
    return value


def _index_remade(index: Any) -> Any:
    if isinstance(index, slice):
        return slice(*map(remade, (index.start, index.stop, index.step)))
    return tuple(map(_index_remade, index)) if isinstance(index, tuple) else remade(index)


def _object_remade(value: Any) -> Any:
    """An object of the program's own, made by its constructor once more."""
    making = constructed.making_of(value)
    if making is None:
        return value
    with suppress(Exception):  # as above
        return Making(making, ())()
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


def gives_own(items: Any) -> bool:
    """Whether the program's own code makes what a loop goes through: a loader of its own class, or a data set without
    its files, also behind a progress bar (`tqdm(data_set)`)."""
    return is_own(items) or isinstance(getattr(items, "iterable", items), UnseenData)
