"""Data that is not on this machine: a stand-in of unknown content, and what is to be known of it for a step.

What a missing file gives is an `Unseen`: its attributes, items, calls and sums are one again. As soon as a size, a
number or an item of it is needed, the statement of the cell ends there, and what it would have bound is `Unseen` too
(`notebook/absorbing`). What Paddle itself needs is a `Need`: a number, a tensor, or what a batch of a loader looks
like. An answer for it is a value, or a description such as `float32[10,3,224,224] int64[10,1]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np
import paddle

from ..session import Session, current
from .descriptions import described, is_description, unknown_batch
from .running_code import TRAINING, assigned, frames, is_trained_on, paddle_asks, place
from .unknowns import UnknownArray, unknown

EPOCH = 64
"""Batches of an epoch of which nobody knows how many it has: enough for a steady step."""
Kind = Literal["batch", "value"]
Why = Literal["batch_unseen", "tensor_unseen", "number_unseen", "length_unseen"]


@dataclass(frozen=True)
class Need:
    """Something that is to be known: `name` to answer for, why, and where it is needed."""

    name: str
    kind: Kind
    why: Why
    cell: int | None
    line: int | None
    batch_size: int | None = None
    is_of_step: bool = True
    """Whether Paddle needs it, for a layer, a tensor or a batch."""


class NeededError(Exception):
    """More was needed of data than anybody here knows."""

    def __init__(self, need: Need) -> None:
        super().__init__(f"{need.name or 'data'} is not on this machine")
        self.need = need


class BatchNeeded(BaseException):
    """A loader's batch was needed."""

    def __init__(self, need: Need) -> None:
        super().__init__(need.name)
        self.need = need


@dataclass
class AbsentData:
    """What a run has seen of data that is not here.

    Attributes:
        answers: by name.
        needs: in the order in which they came up, one a name.
        missing: what was looked for and not found, as questions.
        loaders: by loader the name that it is asked by, and its cell and line.
        used: names of answers that took the place of data.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    needs: dict[str, Need] = field(default_factory=dict)
    missing: list[dict[str, Any]] = field(default_factory=list)
    loaders: dict[int, tuple[str, int | None, int | None]] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    is_trained: bool = False
    """Whether the program trains what is not known: a step that is seen then is not the program's."""
    looks: Callable[[Need], None] | None = None
    """Called with each need as it comes up: what is there then may say how it is answered."""

    def need(self, need: Need) -> Need:
        """Remember what is needed."""
        if need.is_of_step and need.name and need.name not in self.needs:
            self.needs[need.name] = need
            if self.looks is not None:
                self.looks(need)
        return need

    @property
    def hides_the_step(self) -> bool:
        """Whether no step is the program's before its needs are answered."""
        return self.is_trained and bool(self.needs)

    def name_of(self, value: Unseen) -> str:
        """The notebook's name for a value, or for what it is a part of."""
        held: Any = value
        while isinstance(held, Unseen):
            if name := self.own_name(held):
                return name
            held = held.__dict__["_of"]
        return ""

    def part_name(self, value: Unseen) -> str:
        """What a number is asked by that has no name in the notebook: `config_size` for `config.size` and
        `config["size"]`; empty for what a call gives."""
        held, labels = value, list[str]()
        while isinstance(held, Unseen) and not (name := self.own_name(held)):
            labels.append(held.__dict__["_label"])
            held = held.__dict__["_of"]
        if held is None or _CALLED in labels:
            return ""
        return "_".join([name, *(label for label in reversed(labels) if label)])

    def own_name(self, value: Unseen) -> str:
        """The notebook's name for this very value."""
        for names in (self.namespace, *(frame.f_locals for frame in frames())):
            for name, bound in names.items():
                if bound is value and name != "self" and not name.startswith("_"):
                    return name
        return ""

    def description(self, name: str) -> str | None:
        """The answer for a name, where it describes data."""
        answer = self.answers.get(name)
        if isinstance(answer, str) and is_description(answer):
            self.used[name] = answer
            return answer
        return None

    def any_description(self) -> str | None:
        """That of the first answer that describes data: other loaders are like it."""
        return next((answer for answer in self.answers.values() if is_description(answer)), None)


_CALLED = "()"
"""The label of what a call gives."""


class Unseen:
    """A value of unknown content: a part of another one, or what a question is open for already."""

    def __init__(self, of: Unseen | None = None, *, label: str = "", is_asked: bool = False) -> None:
        is_asked = is_asked or (of is not None and of.__dict__["_is_asked"])
        self.__dict__.update(_of=of, _label=label, _is_asked=is_asked)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in TRAINING and (session := current()) is not None:
            session.of(AbsentData).is_trained = True
        return self._part(name)

    def __getitem__(self, index: Any) -> Any:
        label = str(index) if isinstance(index, (str, int)) else ""
        return self._part(label) if label.isidentifier() or label.isdecimal() else Unseen(self)

    def _part(self, label: str) -> Any:
        """A part of it; its answer, where one is given."""
        part, session = Unseen(self, label=label), current()
        data = session.of(AbsentData) if session is not None else None
        if data is None or not any(name.endswith(f"_{label}") for name in data.answers):
            return part
        answer = data.answers.get(data.part_name(part))
        return answer if isinstance(answer, (int, float)) else part

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What its methods give is not known either."""
        return Unseen(self, label=_CALLED)

    def __repr__(self) -> str:
        return "<data that is not on this machine>"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __hash__(self) -> int:
        return id(self)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __setitem__(self, index: Any, value: Any) -> None:
        return None

    def __delitem__(self, index: Any) -> None:
        return None

    def __len__(self) -> int:
        session = current()
        if session is not None:
            data = session.of(AbsentData)
            answer = data.answers.get(f"len_{data.name_of(self)}")
            if isinstance(answer, int):
                return answer
        return self._needs("length_unseen")

    def __iter__(self) -> Iterator[Any]:
        session = current()
        name = session.of(AbsentData).name_of(self) if session else ""
        text = session.of(AbsentData).description(name) if session else None
        if text is None:
            self._needs("batch_unseen")
        batches = [unknown_batch(text) for _ in range(EPOCH)]
        return iter([batch[0] if isinstance(batch, list) and len(batch) == 1 else batch for batch in batches])

    def __array__(self, *_: Any, **__: Any) -> Any:
        session = current()
        if session is not None:
            data = session.of(AbsentData)
            text = data.description(data.name_of(self))
            if text is not None:
                found = described(text)
                return np.array(found[0]).view(UnknownArray) if len(found) == 1 else found
        return self._needs("tensor_unseen")

    def _number(self, *_: Any, **__: Any) -> Any:
        return self._needs("number_unseen")

    def _needs(self, why: Why) -> NoReturn:
        session = current()
        if session is None:
            raise NeededError(Need("", "value", why, None, None, is_of_step=False))
        data = session.of(AbsentData)
        name = data.name_of(self)
        kind: Kind = "batch" if why in {"batch_unseen", "tensor_unseen"} else "value"
        if why == "number_unseen":
            name = data.part_name(self) or name
        name = f"len_{name}" if why == "length_unseen" and name else name
        asks = paddle_asks if kind == "value" else is_trained_on
        raise NeededError(data.need(Need(name, kind, why, *place(), is_of_step=not self._is_asked and asks())))


for _name in ("__index__", "__int__", "__float__", "__bool__", "__contains__", "__lt__", "__le__", "__gt__", "__ge__",
              "__round__", "__next__", "__fspath__"):  # fmt: skip
    setattr(Unseen, _name, Unseen._number)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    for _side in ("", "r", "i"):
        setattr(Unseen, f"__{_side}{_name}__", lambda self, *_: Unseen(self))
for _name in ("__neg__", "__pos__", "__abs__", "__invert__", "__eq__", "__ne__"):
    setattr(Unseen, _name, lambda self, *_: Unseen(self))


def tensor_of(data: Any) -> Any:
    """The numbers of which a tensor is made of data that is not here, where an answer describes them."""
    session = current()
    seen = data
    while isinstance(seen, (list, tuple)):
        seen = next(one for one in seen if is_unseen(one))
    if session is None:
        return seen.__array__()
    known = session.of(AbsentData)
    name = known.own_name(seen) or assigned() or known.name_of(seen)
    text = known.description(name)
    if text is None:
        is_of_step = not seen.__dict__["_is_asked"]
        raise NeededError(known.need(Need(name, "batch", "tensor_unseen", *place(), is_of_step=is_of_step)))
    return unknown(next(iter(described(text))))


def is_unseen(value: Any) -> bool:
    """Whether a value is data that is not here, or holds some."""
    if isinstance(value, (list, tuple)):
        return any(map(is_unseen, value[:8]))
    return isinstance(value, Unseen)


class UnseenData(paddle.io.Dataset):  # type: ignore[misc]
    """A data set of which nothing is known, as samplers and loaders take one."""

    def __init__(self, data: Unseen) -> None:
        super().__init__()
        self.data = data

    def __len__(self) -> int:
        return 1 << 20

    def __getitem__(self, index: Any) -> Any:
        raise NeededError(Need("", "batch", "batch_unseen", None, None, is_of_step=False))


def note_used(session: Session) -> None:
    """Say which answers took the place of data."""
    used = session.of(AbsentData).used
    if used:
        session.note("data_described", answers=", ".join(f"{name}={text}" for name, text in used.items()))
