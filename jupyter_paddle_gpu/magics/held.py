"""What a kernel holds by the names of an estimate's questions: read silently, nothing is run, nothing is changed.

Only what lies in plain attributes is looked at: no item of a data set is made, no loader begins, no method or property
of the program's own classes is called.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import GetSetDescriptorType
from typing import Any

from ..domain.notebooks import FactValue

_PLAIN = (bool, int, float, str)
_SIZED = (list, tuple, dict, set, frozenset, str)
"""Types whose `len` runs nothing of the program's."""
_DTYPES = re.compile(r"(u?int(?:8|16|32|64)|b?float(?:16|32|64)|bool)")
_SIZE = re.compile(r"(\w+?)_shape_(\d)")
"""The name of a size of an array, as questions ask for it."""
_MOST = 16
"""Arrays of a batch that are described."""

Asked = Mapping[str, Any]
"""A question: `name`, `kind`, and `holders`, the names that hold the parts of a batch."""


def held(names: Mapping[str, Any], questions: Iterable[Asked]) -> dict[str, FactValue]:
    """Answers to questions as this kernel has them; what it does not hold is left out."""
    found: dict[str, FactValue] = {}
    for question in questions:
        name = str(question["name"])
        answer = _answer(names, name, str(question["kind"]), question.get("holders") or ())
        if name and answer is not None:
            found[name] = answer
    return found


def _answer(names: Mapping[str, Any], name: str, kind: str, holders: Sequence[str]) -> FactValue:
    if kind == "batch":
        return _batch(names, name, holders)
    if kind == "environment":
        return os.environ.get(name)
    value = names.get(name)
    if kind == "path":
        return value if isinstance(value, str) and os.path.exists(value) else None  # noqa: PTH110 - as it is written
    if value is None:
        value = _computed(names, name)
    return value if type(value) in _PLAIN else None


def _computed(names: Mapping[str, Any], name: str) -> Any:
    """`len_words` of `words`; `rows_shape_1` of an array; `config_size` of an entry or an attribute of `config`."""
    if name.startswith("len_"):
        return _length(names.get(name.removeprefix("len_")))
    if (size := _SIZE.fullmatch(name)) and (array := _array(names.get(size[1]))):
        return dict(enumerate(array[1])).get(int(size[2]))
    for end in (place for place, letter in enumerate(name) if letter == "_" and place):
        owner, part = names.get(name[:end]), name[end + 1 :]
        entries = owner if type(owner) is dict else _attributes(owner)
        if part in entries:
            return entries[part]
    return None


def _length(value: Any) -> int | None:
    if type(value) in _SIZED:
        return len(value)
    shape = _array(value)
    return None if shape is None or not shape[1] else shape[1][0]


def _attributes(value: Any) -> dict[str, Any]:
    """Those of an object; its class may have them by one that it inherits from, as each of Paddle's data sets has."""
    kinds = (vars(kind) for kind in type(value).__mro__)
    found = next((kind["__dict__"] for kind in kinds if "__dict__" in kind), None)
    own = found.__get__(value) if type(found) is GetSetDescriptorType else None
    return own if isinstance(own, dict) else {}


def _batch(names: Mapping[str, Any], name: str, holders: Sequence[str]) -> str | None:
    values = [names.get(holder) for holder in holders]
    if values and all(value is not None for value in values):
        found = _described(values[0] if len(values) == 1 else values)
        if found is not None:
            return found
    value = names.get(name)
    return _described(value) or _of_loader(value)


def _described(value: Any) -> str | None:
    """`float32[10,3] int64[10,1]`; with names where it is a dictionary."""
    if type(value) is dict:
        parts = [(f"{key}: ", _array(part)) for key, part in list(value.items())[:_MOST]]
    elif type(value) in {list, tuple}:
        parts = [("", _array(part)) for part in value[:_MOST]]
    else:
        parts = [("", _array(value))]
    if not parts or any(part is None for _, part in parts):
        return None
    return " ".join(f"{label}{part[0]}[{','.join(map(str, part[1]))}]" for label, part in parts if part is not None)


def _array(value: Any) -> tuple[str, list[int]] | None:
    """Type and shape of a tensor or an array of this very class, whose attributes are those of its library."""
    numpy, paddle = sys.modules.get("numpy"), sys.modules.get("paddle")
    is_array = numpy is not None and type(value) is numpy.ndarray
    if not is_array and not (paddle is not None and issubclass(type(value), paddle.Tensor)):
        return None
    dtype = _DTYPES.search(str(value.dtype))
    return None if dtype is None else (dtype.group(), [int(size) for size in value.shape])


def _of_loader(loader: Any) -> str | None:
    """A batch of a loader over tensors that are there: their rows, as many as a batch has."""
    own = _attributes(loader)
    data, sampler = own.get("dataset"), _attributes(own.get("batch_sampler"))
    size = own.get("batch_size") or sampler.get("batch_size")
    parts = [_array(one) for one in _attributes(data).get("tensors") or ()]
    if not parts or type(size) is not int or any(part is None for part in parts):
        return None
    return " ".join(f"{part[0]}[{','.join(map(str, (size, *part[1][1:])))}]" for part in parts if part is not None)
