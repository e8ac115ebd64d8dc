"""What a claim says, and how a store's claims lie in its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import msgspec

from .processes import Process
from .slots import Slots

SLOT_BYTES = 16 << 10
MOST_CLAIMS = 64
MOST_DEVICES = 64
Name = Annotated[str, msgspec.Meta(pattern=r"\A[ -~]{1,100}\Z")]
"""Other users read it in their terminals: nothing that would steer one."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Devices for one job.

    Attributes:
        state: `wanted`: asked for, while the others are looked at; `held`: the job has them.
        since: when it was asked for, in seconds since the epoch: who asked first goes first.
        process: for whose life they are held.
    """

    job: Name
    devices: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=MOST_DEVICES)]
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
_SLOTS: Slots[tuple[Claim, ...]] = Slots(b"paddle-gpu claims 1", _Claims, size=SLOT_BYTES, empty=())
FILE_BYTES = _SLOTS.file_bytes
read = _SLOTS.read


def write(descriptor: int, claims: tuple[Claim, ...]) -> None:
    """Put claims into the older half. Raises `OSError`, also where there are more than a file holds."""
    if len(claims) > MOST_CLAIMS:
        raise OSError("more claims than a file holds")
    _SLOTS.write(descriptor, claims)
