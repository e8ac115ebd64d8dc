"""JSON and plain values into typed ones, from several threads at once.

msgspec learns a type when it is first decoded into, and lets other threads use what it has learned so far: a field that
it has not come to yet ends the process (`StructInfo_Convert` in its `_core.c`, seen with 0.22). So types are learned
one at a time, each with all that it holds, before anybody decodes into it; nobody else calls msgspec for that
(`tests/domain/test_decoding.py`).
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_learning = threading.Lock()
_learned: set[Any] = set()


def decode(data: bytes | str, kind: type[T]) -> T:
    """JSON as a value of a type. Raises `msgspec.DecodeError`."""
    _learn(kind)
    return msgspec.json.decode(data, type=kind)


def convert(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """A plain value as one of a type; not `strict`: numbers may come as text. Raises `msgspec.ValidationError`."""
    _learn(kind)
    return msgspec.convert(value, kind, strict=strict)


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """A decoder of JSON into a type, for who reads many."""
    with _learning:
        return msgspec.json.Decoder(kind)


def _learn(kind: Any) -> None:
    if kind not in _learned:
        decoder(kind)
        _learned.add(kind)
