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
        shares: bytes of the memory of each of them; empty: they are held as a whole.
        starting: when its job was about to be started, by the monotonic clock of the process's boot: a process of the
            job may live then of which nothing was written down yet. None: no such moment.
    """

    job: Name
    devices: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=MOST_DEVICES)]
    state: Literal["wanted", "held"]
    since: float
    process: Process
    starting: float | None = None
    shares: Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=1 << 50)], ...], msgspec.Meta(max_length=64)] = ()

    def bytes_of(self, device: str) -> int | None:
        """Its share of a device; None: all of it."""
        if len(self.shares) != len(self.devices):  # whatever somebody wrote there
            return None
        return self.shares[self.devices.index(device)]


class Given(NamedTuple):
    """A job of this store that has devices, or is being prepared with some.

    `runs`: it was seen to run; `pid`: of a process that lives as long as it does, where that is known; `shares`: as a
    claim has them.
    """

    devices: tuple[str, ...]
    runs: bool = False
    pid: int | None = None
    shares: tuple[int, ...] = ()


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
