"""Data that is not on this machine: a stand-in of unknown content, and what is to be known of it for a step.

What a missing file gives is an `Unseen`: its attributes, items, calls and sums are one again. As soon as a size, a
number or an item of it is needed, the statement of the cell ends there, and what it would have bound is `Unseen` too
(`notebook/absorbing`). What Paddle itself needs is a `Need`: a number, a tensor, or what a batch of a loader looks
like. An answer for it is a value, or a description such as `float32[10,3,224,224] int64[10,1]`.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from .. import call_stack
from ..session import current
from . import asking, made_up, settings, variants
from .arithmetic import COMPUTED, Arithmetic
from .descriptions import described, is_description, unknown_batch
from .needs import LENGTH, Need, NeededError, Why, first_name, with_default
from .running_code import TRAINING, frames, writes_text
from .unknowns import UnknownArray, UnknownInt, lacks

EPOCH = 64
"""Batches of an epoch of which nobody knows how many it has: enough for a steady step."""


@dataclass
class AbsentData:
    """What a run has seen of data that is not here.

    Attributes:
        answers: by name.
        code: all cells.
        needs: in the order in which they came up, one a name.
        missed: called with the path of a file that was looked for without an error, and is not here.
        loaders: by loader the name that it is asked by, and its cell and line.
        used: names of answers that took the place of data.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    needs: dict[str, Need] = field(default_factory=dict)
    missed: Callable[[str], None] | None = None
    loaders: dict[int, tuple[str, int | None, int | None]] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    is_lent: bool = False  # whether an answer for one loader stood for another
    assumed: dict[str, Any] = field(default_factory=dict)
    """Numbers that size nothing, but without which a layer would compute less, by name."""
    namespace: dict[str, Any] = field(default_factory=dict)
    is_trained: bool = False
    """Whether the program trains what is not known: a step that is seen then is not the program's."""
    passed: int = 0
    """Statements that were passed by."""
    looks: Callable[[Need], None] | None = None
    """Called with each need as it comes up: what is there then may say how it is answered."""
    is_lazy: bool = False
    """Whether tensors of unknown content are asked for only where a layer or an operator takes them."""
    follows: bool = False
    """Whether a batch is looked for in the program's own code before it is asked for."""
    followed: dict[str, str] = field(default_factory=dict)
    """Batches by name that the program's own code said."""
    bound: dict[str, Any] = field(default_factory=dict)
    """What a loop that trains binds to names of such data, as its code says it; None where it does not."""
    guessed: set[str] = field(default_factory=set)
    """Names of those whose types are a guess."""
    uncertain: dict[int, Any] = field(default_factory=dict)
    """Containers by number of which nobody knows how much is in them."""
    uncounted: dict[str, None] = field(default_factory=dict)
    """Names of tensors that the program makes of data of unknown length."""
    lost: list[tuple[weakref.ref[Unseen], str]] = field(default_factory=list)
    """Tensors of unknown length that functions or data sets would have made, as far as anything holds them, each with
    the name that stands there."""
    is_published: Callable[[Need], bool] | None = None
    """Whether a number is a published one of the data that the code names."""
    unmade: dict[str, None] = field(default_factory=dict)
    """Names of such that objects were to hold: an answer may stand for the object."""
    partly: dict[str, list[tuple[str, tuple[int | None, ...]] | None]] = field(default_factory=dict)
    """By name what it says of batches that hang on the data as well: type and shape of each thing, None where nobody
    knows."""
    part_names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of those things, where a batch is a dictionary."""

    def know_partly(
        self, name: str, parts: list[tuple[str, tuple[int | None, ...]] | None], names: tuple[str, ...]
    ) -> None:
        """Remember what the program's code says of a batch that hangs on the data as well."""
        self.partly[name], self.part_names[name] = parts, names

    def need(self, need: Need) -> Need:
        """Remember what is needed."""
        if need.is_of_step and need.name not in {"", *self.needs, *(self.used if need.why == "tensor_unseen" else ())}:
            self.needs[need.name] = need = replace(need, module=tuple(call_stack.module().items()))
            if self.looks is not None:
                self.looks(need)
        return need

    def pass_by(self, needs: Iterable[Need]) -> None:
        """Remember what a statement wants that is passed by, where no sample is being made up."""
        self.passed += 1
        if variants.present() is None and not self.wants_numbers:
            for need in needs:
                self.need(need)

    @property
    def wants_numbers(self) -> bool:
        """Whether a number is open already: what tensors there are shows once a model is made with it."""
        return self.is_lazy and any(one.kind == "value" for one in self.needs.values())

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
        """What a number is asked by: by its place in what the cells have bound (`config_size` for `config.size` and
        `config["size"]`), else by what a function that runs calls it; empty for what a call gives."""
        return next(self._part_names(value), "")

    def _part_names(self, value: Unseen) -> Iterator[str]:
        for own_name in (self._name_in_cells, self.own_name, first_name):
            held, labels = value, list[str]()
            while isinstance(held, Unseen) and not (name := own_name(held)):
                if (label := held.__dict__["_label"]) != COMPUTED:  # what it is computed from is asked for
                    labels.append(label)
                held = held.__dict__["_of"]
            if held is not None and _CALLED not in labels:
                yield "_".join([name, *(label for label in reversed(labels) if label)])

    def answer_of(self, value: Unseen) -> int | float | None:
        """What was answered for a number; None where nothing was, or for what it is computed from only."""
        if not self.answers:
            return None
        names = [self.own_name(value)]
        if value.__dict__["_label"] != COMPUTED:
            names += [*self._part_names(value), self.name_of(value)]
        answers = (self.answers.get(name) for name in names)
        found = next((answer for answer in answers if isinstance(answer, (int, float))), None)
        if found is not None:
            settings.take(value, found, self.part_name)
        return found

    def own_name(self, value: Unseen) -> str:
        """The notebook's name for this very value."""
        if name := self._name_in_cells(value):
            return name
        return next((name for frame in frames() for name in _names(frame.f_locals, value)), "")

    def _name_in_cells(self, value: Unseen) -> str:
        if (known := value.__dict__["_name"]) and not any(bound is value for bound in self.namespace.values()):
            return str(known)
        return next(_names(self.namespace, value), "")

    def description(self, name: str) -> str | None:
        """The answer for a name, where it describes data."""
        answer = self.answers.get(name)
        if isinstance(answer, str) and is_description(answer):
            self.used[name] = answer
            return answer
        return None

    def any_description(self) -> str | None:
        """That of the first answer that describes data: other loaders are like it."""
        found = next((answer for answer in self.answers.values() if is_description(answer)), None)
        self.is_lent = self.is_lent or found is not None
        return found


def _names(names: Mapping[str, Any], value: Any) -> Iterator[str]:
    """Which of them, but for private ones, are bound to a value."""
    return (name for name, bound in names.items() if bound is value and name != "self" and not name.startswith("_"))


_TRAINS = TRAINING | {"fit"}
_CALLED = "()"
"""The label of what a call gives."""


class Unseen(Arithmetic):
    """A value of unknown content: a part of another one, or what a question is open for already."""

    def __init__(
        self,
        of: Unseen | None = None,
        *,
        label: str = "",
        is_asked: bool = False,
        name: str = "",
        length: int | None = None,
        dtype: Any = None,
        index: Any = None,
    ) -> None:
        is_asked = is_asked or (of is not None and of.__dict__["_is_asked"])
        kept = index if made_up.is_plain(index) else None
        held = {"_is_asked": is_asked, "_name": name, "_length": length, "_dtype": dtype, "_index": kept}
        self.__dict__.update(held, _of=of, _label=label)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """A word, where the program asks while samples are made up: `isinstance(tokens, str)` tells what is looked up
        in a vocabulary from lists of such, and a list is what was cut (`words[:64]`)."""
        asks = sys._getframe(1).f_code.co_filename
        variant = variants.present() if call_stack.is_cell(asks) else None
        return str if variant is not None and variant.holds and self.__dict__["_length"] is None else type(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or lacks(sys._getframe(1)):
            raise AttributeError(name)
        session, variant = current(), variants.present()
        if session is not None and name in _TRAINS:
            asking.ask_chosen(session.of(AbsentData), self, trains=name in TRAINING)
        if name == "keys" and variant is None and (parts := settings.taken(sys._getframe(1))) is not None:
            self.__dict__["_defaults"] = parts
            return lambda: list(parts)
        if variant is not None and name in made_up.PICTURE | made_up.ARRAY:
            return made_up.method(variant, name, self._converted if name == "astype" else self, self.__dict__["_dtype"])
        if variant is not None and name == made_up.COLUMN:
            is_column = self.__dict__["_label"].isidentifier()
            return Unseen(self, label=name, length=self._count(variant) if is_column else None)
        if variant is not None and (method := made_up.of_list(self, name, variant)) is not None:
            return method
        return self._part(name)

    def _converted(self, dtype: Any = None, *_: Any, **__: Any) -> Any:
        if self.__dict__["_label"] == made_up.COLUMN and dtype is not None and self.__dict__["_length"] is not None:
            return np.zeros(self.__dict__["_length"], dtype)
        return Unseen(self, length=self.__dict__["_length"], dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        if made_up.is_token(index) or made_up.is_sign(index):
            return UnknownInt(0)
        if (variant := variants.present()) is not None:
            if (found := made_up.indexed(variant, index)) is not None:
                return found
            if isinstance(index, slice):
                return Unseen(self, length=len(range(self._count(variant))[made_up.plain_slice(index)]))
        said = str(index) if isinstance(index, (str, int)) else ""
        label = "last" if said == "-1" else said
        return self._part(label if label.isidentifier() or label.isdecimal() else "", index)

    def _part(self, label: str, index: Any = None) -> Any:
        """A part of it; its answer, where one is given."""
        part, session = Unseen(self, label=label, index=index), current()
        with_default(part, self.__dict__.get("_defaults", {}).get(label))
        data = session.of(AbsentData) if session is not None else None
        if data is not None and self.__dict__["_of"] is None and "_first_name" not in self.__dict__:
            self.__dict__["_first_name"] = next(_names(data.namespace, self), "")
        if data is None or not label:
            return part
        is_answered = any(name.endswith(f"_{label}") for name in data.answers)
        answer = settings.answer(data.answers.get(data.part_name(part))) if is_answered else None
        settings.take(part, answer, data.part_name)
        return part if answer is None else answer

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What its methods give is not known either."""
        if self.__dict__["_label"] == made_up.COLUMN and variants.present() is not None:
            return made_up.MadeUpList(self)
        if args and made_up.is_token(args[0]):
            return UnknownInt(0)
        if self.__dict__["_label"] in settings.GETS and args and isinstance(args[0], str):
            return settings.of_key(self.__dict__["_of"], *args, **kwargs)
        if self.__dict__["_label"] in settings.SAME and not args and variants.present() is None:
            return self.__dict__["_of"]
        found = Unseen(self, label=_CALLED)
        if (session := current()) is None:
            return found
        if self.__dict__["_label"] == "backward":
            asking.pass_back(self, session)
        return asking.called_with(found, args, session.of(AbsentData))

    def __repr__(self) -> str:
        if writes_text(sys._getframe(1)):  # a file of such would be read again as if it said something
            self._needs("number_unseen", is_asked=False)
        return "<data that is not on this machine>"

    def __format__(self, spec: str) -> str:
        if writes_text(sys._getframe(1)):
            self._needs("number_unseen", is_asked=False)
        return "1" if settings.is_in_format(sys._getframe(1)) else repr(self)

    def __hash__(self) -> int:
        return id(self)

    def __enter__(self) -> Any:
        return self

    def _nothing(self, *_: object) -> None:
        return None

    __exit__ = __setitem__ = __delitem__ = _nothing

    def _count(self, variant: variants.Variant) -> int:
        length: int | None = self.__dict__["_length"]
        return variant.length if length is None else length

    def __len__(self) -> int:
        if (variant := variants.present()) is not None and not variants.are_over():
            return self._count(variant)
        if (session := current()) is not None:
            data = session.of(AbsentData)
            if isinstance(answer := data.answers.get(f"len_{data.name_of(self)}"), int):
                return answer
        return self._needs("length_unseen")

    def __iter__(self) -> Iterator[Any]:
        if (variant := variants.present()) is not None:
            count = variants.unpacked_into(sys._getframe(1)) or self._count(variant)
            return (Unseen(self) for _ in range(count) if variants.may_spend() or self._needs("batch_unseen"))
        session = current()
        if self.__dict__["_label"] == "shape" and (sides := variants.unpacked_into(sys._getframe(1))):
            return iter([self._part(str(side)) for side in range(sides)])
        data = session.of(AbsentData) if session else None
        text = data.description(data.name_of(self)) if data else None
        if text is None:
            self._needs("batch_unseen")
        batches = [unknown_batch(text) for _ in range(EPOCH)]
        return iter([batch[0] if isinstance(batch, list) and len(batch) == 1 else batch for batch in batches])

    def __array__(self, dtype: Any = None, *_: Any, **__: Any) -> Any:
        session = current()
        if (variant := variants.present()) is not None and variants.may_spend():
            shape = made_up.extents(variant, self, session.of(AbsentData).code if session is not None else "")
            return np.zeros(shape, dtype or self.__dict__["_dtype"] or variant.numbers)
        if session is not None:
            data = session.of(AbsentData)
            text = data.description(data.name_of(self))
            if text is not None:
                found = described(text)
                return np.array(found[0]).view(UnknownArray) if len(found) == 1 else found
        return self._needs("number_unseen" if self.__dict__["_label"] == LENGTH else "tensor_unseen")

    def _number(self, *_: Any, **__: Any) -> Any:
        return self._needs("number_unseen")

    def __fspath__(self) -> str:
        return made_up.path() or self._needs("number_unseen", is_asked=False)  # no number stands for a path

    def _not_known(self, against: Any = None) -> Unseen:
        made = Unseen(self, label=COMPUTED)
        made.__dict__["_against"] = against if isinstance(against, str) else None
        return made

    def _factor(self) -> float | None:
        return 1.0 if variants.present() is None and asking.is_setting(self) else None

    def _answer(self) -> int | float | None:
        session = current()
        return session.of(AbsentData).answer_of(self) if session is not None else None

    def _whole(self) -> Any:
        if (answer := self._answer()) is not None:
            return answer
        is_any = variants.present() is not None and variants.may_spend()
        return 0 if is_any else self._needs("number_unseen", counts=True)

    def _decided(self) -> Any:
        variant = variants.present()
        return variant.holds if variant is not None and variants.may_spend() else self._needs("number_unseen")

    def __next__(self) -> Any:
        return Unseen(self) if variants.present() is not None and variants.may_spend() else self._needs("number_unseen")

    def _needs(self, why: Why, *, is_asked: bool = True, counts: bool = False) -> NoReturn:
        session = current()
        if session is None:
            raise NeededError(Need("", "value", why, None, None, is_of_step=False))
        raise NeededError(asking.need_of(self, session.of(AbsentData), why, is_asked=is_asked, counts=counts))


for _name in ("__index__", "__int__", "__round__"):
    setattr(Unseen, _name, lambda self, *_: self._whole())


def unseen_length(name: str, of: Any = None) -> Unseen:
    """How long data is that is not here."""
    return Unseen(of if asking.is_setting(of) else None, label=LENGTH, name=name)


def is_unseen(value: Any) -> bool:
    """Whether a value is data that is not here, or holds some."""
    if isinstance(value, (list, tuple)):
        return any(map(is_unseen, value[:8]))
    return isinstance(value, Unseen)
