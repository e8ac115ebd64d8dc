"""An engine that exists only in the tests: a cluster with cards of its own, whose jobs are really processes here.

It stands for what another package would bring, and imports nothing but what such a package may.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import msgspec

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.engines import Features
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.notebooks import NotebookFacts
from jupyter_paddle_gpu.engines.engine_type import EngineContext, EngineType
from jupyter_paddle_gpu.engines.local import LocalEngine

GIB = 1 << 30


class ElsewhereSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Its section of the policy file."""

    cards: int = 2
    assigns: bool = False


@dataclass
class ElsewhereEngine(LocalEngine):
    """Cards that this machine does not have."""

    name: str = "elsewhere"
    settings: ElsewhereSettings = field(default_factory=ElsewhereSettings)

    @property
    def assigns_devices(self) -> bool:
        return self.settings.assigns

    @property
    def slots(self) -> int | None:
        return None

    def supported_features(self) -> Features:
        title = Message(code="engine_elsewhere", text="Elsewhere")
        return msgspec.structs.replace(super().supported_features(), title=title)

    def options_of(self, facts: NotebookFacts) -> dict[str, Any]:
        return {"packages": list(facts.requirements)} if facts.requirements else {}

    def shared_memory(self, needed: int) -> int | None:
        return 2 * needed

    def inventory(self) -> Inventory:
        return Inventory(
            time=time.time(),
            host=HostSample(cpu_count=64, cpu_percent=0.0, memory_total=512 * GIB, memory_available=512 * GIB),
            devices=tuple(
                Device(
                    id=f"elsewhere/{number}",
                    index=number,
                    vendor="nvidia",
                    name="H100 80GB",
                    memory_total=80 * GIB,
                    memory_free=80 * GIB,
                )
                for number in range(self.settings.cards)
            ),
        )


def _make(settings: ElsewhereSettings, context: EngineContext) -> ElsewhereEngine:
    return ElsewhereEngine(settings=settings)


ENGINE = EngineType(name="elsewhere", settings=ElsewhereSettings, make=_make)
