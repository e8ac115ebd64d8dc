"""The seam between the inventory and a maker's driver: who reads live figures implements `Reader`."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ..domain.devices import Device, DeviceLink, Driver, Vendor
from ..domain.messages import Message


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one vendor's tool said at one moment; a whole failure is in `problems`, one of a card in the card."""

    devices: tuple[Device, ...] = ()
    drivers: dict[Vendor, Driver] = {}
    links: tuple[DeviceLink, ...] = ()
    problems: tuple[Message, ...] = ()


class Reader(Protocol):
    """Reads the devices of one vendor. Called by one thread at a time; never raises."""

    def read(self) -> Reading:
        """The devices now."""
        ...

    def close(self) -> None:
        """Let go of the driver; the next `read` opens it again."""
        ...
