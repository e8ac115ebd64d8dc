"""A value in a file that others read: it lies there twice, so that a reader never meets half a change.

A number and a checksum stand before each; the older half is written over. The file's room is taken when it is made, so
that it can be written while the disk is full.
"""

from __future__ import annotations

import hashlib
import os
from typing import Generic, TypeVar

import msgspec

from ..domain.decoding import decoder

T = TypeVar("T")


class Slots(Generic[T]):
    """How one kind of value lies in its files.

    Args:
        magic: what each half begins with.
        kind: the type that a half must have, with all its bounds.
        size: bytes of a half.
        empty: what a file says in which no half is whole.
    """

    def __init__(self, magic: bytes, kind: type[T], *, size: int, empty: T) -> None:
        self._magic, self._size, self._empty = magic, size, empty
        self._decoder: msgspec.json.Decoder[T] = decoder(kind)

    @property
    def file_bytes(self) -> int:
        """Of the whole file."""
        return 2 * self._size

    def read(self, descriptor: int) -> tuple[int, T]:
        """(number, value) of the newer half that is whole; (0, the empty value) where none is."""
        halves = (self._parsed(os.pread(descriptor, self._size, place)) for place in (0, self._size))
        return max((half for half in halves if half is not None), key=lambda half: half[0], default=(0, self._empty))

    def write(self, descriptor: int, value: T) -> None:
        """Put a value into the older half. Raises `OSError`, also where it is larger than a half."""
        number, _ = self.read(descriptor)
        text = msgspec.json.encode(value)
        head = b"%s %d %d %s\n" % (self._magic, number + 1, len(text), hashlib.sha256(text).hexdigest().encode())
        if len(head) + len(text) > self._size:
            raise OSError("more than a file holds")
        os.pwrite(descriptor, (head + text).ljust(self._size, b"\0"), self._size * ((number + 1) % 2))

    def _parsed(self, raw: bytes) -> tuple[int, T] | None:
        head, _, rest = raw.partition(b"\n")
        try:
            number, size, digest = head.removeprefix(self._magic).split()
            text = rest[: int(size)]
            if not head.startswith(self._magic) or hashlib.sha256(text).hexdigest().encode() != digest:
                return None
            return int(number), self._decoder.decode(text)
        except (ValueError, RecursionError, msgspec.MsgspecError):  # whatever somebody wrote there
            return None
