"""Who has the devices that this store does not give: asked of the engines, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...domain.devices import DeviceHolder, Holders
from ...domain.errors import PaddleGpuError
from ...engines.base import Engine
from ...engines.capabilities import Sharer

if TYPE_CHECKING:
    from ...claims.claims import Claims


class DeviceHolders:
    """Belongs to whoever looks after the queue, or shows where a job would run.

    Args:
        claims: of other users and stores, whatever engine their jobs are on; None: nobody shares.
        patience: seconds that an engine has for its answer. One that hangs says nothing then: no job of it starts
            anyway, and before one starts the engine looks by itself.
    """

    def __init__(self, engines: Iterable[Engine], claims: Claims | None = None, *, patience: float) -> None:
        self._engines, self._claims, self._patience = tuple(engines), claims, patience
        self._late: dict[str, threading.Thread] = {}

    def ask(self) -> Holders:
        """Device id -> the jobs of other users, or of other stores, that have it or shares of it."""
        found: dict[str, tuple[DeviceHolder, ...]] = self._claims.held() if self._claims is not None else {}
        for engine in self._engines:
            if not isinstance(engine, Sharer) or ((late := self._late.get(engine.name)) and late.is_alive()):
                continue
            answer: dict[str, tuple[DeviceHolder, ...]] = {}
            thread = threading.Thread(target=_ask, args=(engine, answer), name=f"holders {engine.name}", daemon=True)
            thread.start()
            thread.join(self._patience)
            self._late[engine.name] = thread
            if not thread.is_alive():
                for device, holders in answer.items():
                    # The same job may be in both.
                    found[device] = tuple(dict.fromkeys((*found.get(device, ()), *holders)))
        return found


def _ask(engine: Sharer, found: dict[str, tuple[DeviceHolder, ...]]) -> None:
    try:
        found.update(engine.held_by_others())
    except PaddleGpuError:
        return  # nobody there who could have given a device to anybody
