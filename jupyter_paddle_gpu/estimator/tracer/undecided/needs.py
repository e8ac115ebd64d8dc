"""What is to be known of data that is not on this machine before a step can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .arithmetic import COMPUTED

Kind = Literal["batch", "value"]
Why = Literal["batch_unseen", "tensor_unseen", "number_unseen", "length_unseen", "choice_unseen", "list_unseen"]
CHOSEN = frozenset(("choice_unseen", "list_unseen"))
"""Texts by which a program chooses, and lists by which it makes layers: they stand in settings, and are asked for where
what was chosen or made is needed."""
LENGTH = "length"
"""The label of how long data is: a number, however it is used."""

UNNAMED_LOADER = "loader"
"""What a loader is called that a loop makes for itself: `for x in DataLoader(Rows()):`."""


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
    sizes: str = ""
    """What Paddle's own constructor calls a number that is needed: `num_embeddings`, `out_features`."""
    is_index: bool = False
    """Whether the program takes rows of another tensor by it, or one: `x[chosen]`."""
    dtype: str = ""
    """The type of its numbers, where the program says it: `np.array(rows, dtype="float32")`."""
    default: int | None = None
    """What the program takes where data does not tell it: `config.get("width", 64)`."""
    key: str = ""
    """What a setting is called in its file: `opt` of `config["opt"]`."""
    usual: str = ""
    """The text that the program takes where a setting is not there: `config.get("optimizer", "sgd")`."""
    options: tuple[str, ...] = ()
    """Texts that the program knows, of which a setting is one."""
    file: str = ""
    """The file that would have held it, where that is known beside what was looked for."""
    part: str = ""
    """What of a shape it is: `table.shape[1]`, in `rows, columns = table.shape`."""
    module: tuple[tuple[str, Any], ...] = ()
    """The module of the program's own that needs it, and the line in it."""


def type_of(value: Any) -> str:
    """The type that the code gave to the numbers of which data of unknown content is made; empty where it gave none."""
    while value is not None:
        if dtype := value.__dict__["_dtype"]:
            return str(dtype)
        value = value.__dict__["_of"]
    return ""


def file_of(value: Any) -> str:
    """The file that a value, or what it is a part of, was to be read from; empty where that is told elsewhere."""
    while hasattr(type(value), "is_not_known"):
        if found := value.__dict__.get("_held_in"):
            return str(found)
        value = value.__dict__["_of"]
    return ""


def with_default(value: Any, default: Any = None, *_: Any) -> Any:
    """A part of data of unknown content, with what the program takes where there is none such."""
    if hasattr(value, "_of"):
        if type(default) is int and default > 0:
            value.__dict__["_default"] = default
        elif isinstance(default, str):
            value.__dict__["_usual"] = default
    return value


def optional(value: Any) -> Any:
    """A setting without which the program goes on."""
    if hasattr(type(value), "is_not_known"):
        value.__dict__["_is_optional"] = True
    return value


def usual_of(value: Any) -> str:
    """The text that the program takes in place of a setting, or of what another form of it is made of; empty where it
    says none."""
    while value is not None and value.__dict__["_label"] == COMPUTED:
        value = value.__dict__["_of"]
    return "" if value is None else value.__dict__.get("_usual", "")


def default_of(value: Any) -> int | None:
    """What the program takes in its place where it is not there; None where it says nothing."""
    default: int | None = value.__dict__.get("_default")
    return default


def first_name(value: Any) -> str:
    """The notebook's name for it when a part of it was first taken: `config`, in `config = Config(config)`."""
    return str(value.__dict__.get("_first_name", ""))


def is_tensor(value: Any) -> bool:
    """Whether data of unknown content is a tensor, or computed from one; its size is none."""
    while value is not None and not value.__dict__.get("_is_tensor"):
        value = value.__dict__["_of"] if value.__dict__["_label"] == COMPUTED else None
    return value is not None


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
