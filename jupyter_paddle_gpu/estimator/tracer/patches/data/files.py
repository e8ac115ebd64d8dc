"""Paddle's ways from data to a model where the data is not on this machine: loaders, samplers, tensors, `fit`."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import paddle

from ... import call_stack
from ...session import Session
from ...undecided.absent_data import AbsentData, Unseen, is_unseen
from ...undecided.asking import is_setting
from ...undecided.needs import UNNAMED_LOADER, Need, NeededError, default_of
from ...undecided.running_code import frames, place
from ...undecided.unseen_data import UnseenData
from ..numbers import seeded
from ..patch import Patch
from .ahead import passes


def _stood_for(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with data sets in place of data that is not here."""
    return tuple(map(_data_set, args)), {name: _data_set(value) for name, value in kwargs.items()}


def _data_set(value: Any, *, is_loader: bool = False) -> Any:
    return UnseenData(value, is_loader=is_loader) if isinstance(value, Unseen) else value


def _settled(session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Named arguments without those that settings say which are not here: none but the batch size sizes anything, and
    that is asked for by its name, but where what one of the batches looks like is asked anyway."""
    size = kwargs.get("batch_size")
    left = {name: value for name, value in kwargs.items() if name in _DATA or not is_setting(value)}
    if "batch_size" in left or size is None:
        return left
    given = [*args[:1], *(kwargs[name] for name in _DATA if name in kwargs)]
    if not any(isinstance(one, (Unseen, UnseenData)) for one in given):
        data = session.of(AbsentData)
        named = data.part_name(size)
        if type(answer := data.answers.get(named)) is int:
            return {**left, "batch_size": answer}
        raise NeededError(data.need(Need(named, "value", "number_unseen", *place(), default=default_of(size))))
    return {**left, "batch_size": 1}


_DATA = ("dataset", "train_data", "eval_data", "test_data", "batch_sampler", "sampler", "collate_fn", "callbacks")


def _sampler(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
    args, kwargs = _stood_for(args, _settled(session, args, kwargs))
    data = session.of(AbsentData)
    before = dict(data.needs)
    try:
        original(self, *args, **kwargs)
    except NeededError:
        data.needs = before  # how long data is that is not here is nothing that the step needs
        args, kwargs = _without_data(args, kwargs)
        original(self, *args, **kwargs)


def _without_data(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with data of unknown content for the data set, which comes first or by its name."""
    if "dataset" in kwargs:
        return args, {**kwargs, "dataset": UnseenData(kwargs["dataset"])}
    return (UnseenData(args[0] if args else Unseen()), *args[1:]), kwargs


def _loader(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> None:
    args, kwargs = _stood_for(args, _settled(session, args, kwargs))
    sampler = kwargs.get("batch_sampler")
    if isinstance(sampler, UnseenData):
        kwargs["batch_sampler"] = None
        kwargs.setdefault("batch_size", 1)
    before = dict(session.of(AbsentData).needs)
    try:
        original(self, *args, **kwargs)
    except NeededError:  # a data set of the program's own around data that is not here: it cannot say how long it is
        session.of(AbsentData).needs = before
        args, kwargs = _without_data(args, kwargs)
        original(self, *args, **kwargs)
    session.of(AbsentData).loaders[id(self)] = (_called_by(), *place())


def _called_by() -> str:
    """The name that a loader is known by in the code that makes it, or else in the notebook: what it is assigned to, or
    what `fit` is given."""
    maker = call_stack.of_program()
    for frame in frames() if maker is None else chain((maker,), frames()):
        source = "".join(linecache.getlines(frame.f_code.co_filename))
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except SyntaxError:
            return ""
        line = frame.f_lineno
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno <= line <= (node.end_lineno or line):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Attribute):
                    return target.attr
                if isinstance(target, ast.Name) and not _takes_data(node.value):
                    return target.id
            is_cell = call_stack.is_cell(frame.f_code.co_filename)
            if (
                is_cell
                and isinstance(node, ast.Call)
                and node.lineno <= line <= (node.end_lineno or line)
                and _takes_data(node)
            ):
                return _first_name(node)
        if call_stack.is_cell(frame.f_code.co_filename):
            return UNNAMED_LOADER
    return ""


_BATCH_SIZE = {"fit": 2, "evaluate": 1, "predict": 1}
"""Calls that take data, with the place of their batch size among the arguments."""
_TAKES_DATA = frozenset(_BATCH_SIZE)


def _takes_data(node: ast.AST | None) -> bool:
    """Whether it is a call of `fit` or its like."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES_DATA


def _first_name(node: ast.Call) -> str:
    given = [*node.args[:1], *(word.value for word in node.keywords if word.arg in {"train_data", "eval_data"})]
    return next((one.id for one in given if isinstance(one, ast.Name)), "train_data")


def _method(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Model.fit` and its like: data that is not here is a data set. Who says no batch size rather gives a loader."""
    place_of_size = _BATCH_SIZE[original.__name__]
    is_loader = len(args) <= place_of_size and "batch_size" not in kwargs
    if len(args) == place_of_size + 1 and is_setting(args[-1]):
        args, kwargs = args[:-1], {**kwargs, "batch_size": args[-1]}
    kwargs = _settled(session, args, kwargs)
    args = *(_data_set(one, is_loader=is_loader) for one in args[:2]), *args[2:]
    kwargs = {name: _data_set(value, is_loader=is_loader) for name, value in kwargs.items()}
    return original(self, *args, **kwargs)


def _predict(session: Session, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Model.predict`, which gives as much as all batches do."""
    return passes.predicted(session, partial(_method, session, original), self, *args, **kwargs)


def _split(session: Session, original: Callable[..., Any], data: Any, lengths: Any, *args: Any, **kwargs: Any) -> Any:
    session.of(Splits).drawn()
    is_list = isinstance(lengths, (Iterable, Unseen))
    if is_list and (isinstance(data, (Unseen, UnseenData)) or is_unseen(list(lengths))):
        return [Unseen(data) if isinstance(data, Unseen) else UnseenData(data) for _ in lengths]
    return original(data, lengths, *args, **kwargs)


class Splits:
    """Parts into which the program divides its data at random. Each of several processes draws its own, from a seed
    that is another one in each, as long as the program sets none."""

    def __init__(self) -> None:
        self.is_seeded = False
        self.unseeded: dict[str, int] | None = None

    def drawn(self) -> None:
        """One is drawn."""
        if not self.is_seeded and self.unseeded is None:
            self.unseeded = call_stack.told()

    def notes(self, processes: int) -> list[dict[str, Any]]:
        """What is to be told of a training in so many processes."""
        is_told = processes > 1 and self.unseeded is not None
        return [{"code": "splits_differ", "params": {**(self.unseeded or {})}}] if is_told else []


def _seed(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    session.of(Splits).is_seeded = True
    return seeded(session, original, *args, **kwargs)


def _assign(session: Session, original: Callable[..., Any], self: Any, value: Any, *args: Any, **kwargs: Any) -> None:
    """`Assign(vectors)`: a parameter has its own shape, whatever it begins with."""
    if is_unseen(value):
        self.__class__ = paddle.nn.initializer.Constant
        self.__init__(0.0)
        return
    original(self, value, *args, **kwargs)


def _set_value(session: Session, original: Callable[..., Any], self: Any, value: Any) -> Any:
    return None if is_unseen(value) else original(self, value)


def patches() -> Iterator[Patch]:
    """Where data goes into Paddle."""
    yield Patch(paddle.io.DataLoader, "__init__", _loader)
    yield Patch(paddle.io.BatchSampler, "__init__", _sampler)
    yield Patch(paddle.io.DistributedBatchSampler, "__init__", _sampler)
    for name in ("RandomSampler", "SequenceSampler", "Subset"):
        yield Patch(getattr(paddle.io, name), "__init__", _sampler)
    yield Patch(paddle.io, "random_split", _split)
    yield Patch(paddle, "seed", _seed)
    yield Patch(paddle.nn.initializer.Assign, "__init__", _assign)
    for name, method in {**dict.fromkeys(_TAKES_DATA, _method), "predict": _predict}.items():
        yield Patch(paddle.hapi.model.Model, name, method)
