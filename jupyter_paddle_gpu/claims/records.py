"""What a claim says, and how a store's claims lie in its file: twice, so that a reader never meets half a change."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec

from .processes import Process

SLOT_BYTES = 16 << 10
FILE_BYTES = 2 * SLOT_BYTES
"""Taken when the file is made: a claim can be written while the disk is full."""
MOST_CLAIMS = 64
MOST_DEVICES = 64
_MAGIC = b"paddle-gpu claims 1"
_Name = Annotated[str, msgspec.Meta(pattern=r"\A[ -~]{1,100}\Z")]
"""Other users read it in their terminals: nothing that would steer one."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Devices for one job.

    Attributes:
        state: `wanted`: asked for, while the others are looked at; `held`: the job has them.
        since: when it was asked for, in seconds since the epoch: who asked first goes first.
        process: for whose life they are held.
    """

    job: _Name
    devices: Annotated[tuple[_Name, ...], msgspec.Meta(min_length=1, max_length=MOST_DEVICES)]
    state: Literal["wanted", "held"]
    since: float
    process: Process


class Given(NamedTuple):
    """A job of this store that has devices, or is being prepared with some.

    `runs`: it was seen to run; `pid`: of a process that lives as long as it does, where that is known.
    """

    devices: tuple[str, ...]
    runs: bool = False
    pid: int | None = None


Active = Mapping[str, Given]
"""Job -> what it has."""


_Claims = Annotated[tuple[Claim, ...], msgspec.Meta(max_length=MOST_CLAIMS)]


def read(descriptor: int) -> tuple[int, tuple[Claim, ...]]:
    """(number, claims) of the newer half of a file that is whole; (0, none) where none is."""
    halves = (_parsed(os.pread(descriptor, SLOT_BYTES, place)) for place in (0, SLOT_BYTES))
    return max((half for half in halves if half is not None), key=lambda half: half[0], default=(0, ()))


def write(descriptor: int, claims: tuple[Claim, ...]) -> None:
    """Put claims into the older half. Raises `OSError`, also where there are more than a file holds."""
    number, _ = read(descriptor)
    text = msgspec.json.encode(claims)
    head = b"%s %d %d %s\n" % (_MAGIC, number + 1, len(text), hashlib.sha256(text).hexdigest().encode())
    if len(head) + len(text) > SLOT_BYTES or len(claims) > MOST_CLAIMS:
        raise OSError("more claims than a file holds")
    os.pwrite(descriptor, (head + text).ljust(SLOT_BYTES, b"\0"), SLOT_BYTES * ((number + 1) % 2))


def _parsed(raw: bytes) -> tuple[int, tuple[Claim, ...]] | None:
    head, _, rest = raw.partition(b"\n")
    try:
        number, size, digest = head.removeprefix(_MAGIC).split()
        text = rest[: int(size)]
        if not head.startswith(_MAGIC) or hashlib.sha256(text).hexdigest().encode() != digest:
            return None
        return int(number), msgspec.json.decode(text, type=_Claims)
    except (ValueError, RecursionError, msgspec.MsgspecError):  # whatever somebody wrote there
        return None
