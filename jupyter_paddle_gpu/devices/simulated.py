"""Devices for teaching: shown like real ones, marked, and never run on."""

from __future__ import annotations

import re

from ..domain.devices import Device
from ..domain.messages import Message
from .catalogue import find
from .makers.registry import makers
from .reader import Reading

VARIABLE = "PADDLE_GPU_SIMULATE"
"""Environment variable with the cards to show, as in `A100 80GB x2, T4`."""
MAX_DEVICES = 64
"""More of them would show nothing that 64 do not."""
_TIMES = re.compile(r"^(.*?)(?:\s*[x×*]\s*(\d+))?$", re.IGNORECASE)


class SimulatedReader:
    """Cards of the catalogue, empty and idle."""

    def __init__(self, description: str) -> None:
        self._reading = _reading(description)

    def read(self) -> Reading:
        """The same cards every time."""
        return self._reading

    def close(self) -> None:
        """Nothing is held."""


def _reading(description: str) -> Reading:
    devices: list[Device] = []
    problems: list[Message] = []
    for part in filter(None, (piece.strip() for piece in re.split(r"[,;+]", description))):
        # A name first: in `RTX 4090` the X is no sign of times.
        match = None if find(part) else _TIMES.match(part)
        name, times = (match[1], int(match[2] or 1)) if match else (part, 1)
        card = find(name)
        if card is None:
            problems.append(
                Message(
                    code="simulated_unknown",
                    text="There is no card called {name} to simulate.",
                    hint="Take a name from the list of known accelerators, as in {variable}='A100 80GB x2'.",
                    params={"name": name, "variable": VARIABLE},
                )
            )
            continue
        memory = card.usable_bytes or card.memory_bytes
        maker = makers().named(card.vendor)
        for _ in range(min(times, MAX_DEVICES - len(devices))):
            devices.append(
                Device(
                    id=f"simulated-{len(devices)}",
                    index=len(devices),
                    vendor=card.vendor,
                    name=card.name,
                    memory_total=memory,
                    memory_used=0,
                    memory_free=memory,
                    utilization=0,
                    power_limit=card.watts,
                    compute_capability=card.compute_capability,
                    simulated=True,
                    checked=maker is None or maker.checked,
                )
            )
    return Reading(devices=tuple(devices), problems=tuple(problems))
