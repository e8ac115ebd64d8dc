"""What many clients are sent alike: made once for all of them, and sent to few in one round of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import msgspec

from ..domain.devices import Inventory
from ..domain.messages import Translate
from ..i18n import to_json

AT_ONCE = 4
"""So many clients are written to before the event loop looks at its sockets again: a hundred at a time would keep
everybody's requests waiting for 25 ms."""


class Broadcast:
    """Lives on the event loop."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._made: dict[Translate, tuple[Inventory, str]] = {}  # by language

    def devices(self, inventory: Inventory, translate: Translate) -> str:
        """The message with a sample of the devices, as JSON."""
        made = self._made.get(translate)
        if made is None or made[0] is not inventory:
            event = {"type": "devices", "inventory": inventory}
            made = (inventory, msgspec.json.encode(to_json(event, translate)).decode())
            self._made[translate] = made
        return made[1]

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """To hand one client its message (not to wait until it has read it)."""
        async with self._places:
            yield
            await asyncio.sleep(0)  # who comes next is let in when the loop has come round
