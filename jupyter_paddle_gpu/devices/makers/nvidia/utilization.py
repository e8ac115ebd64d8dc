"""How busy each process keeps a card: NVML hands out samples since a moment, which somebody has to remember."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


class ProcessUtilization:
    """Remembers for each card up to where its samples were read."""

    def __init__(self) -> None:
        self._until: dict[str, int] = {}

    def read(self, nvml: Any, handle: Any) -> dict[int, int]:
        """Process number -> mean share of the multiprocessors' time since the last call, 0 to 100.

        Empty where the card or the driver cannot tell (before Maxwell, slices, WSL), or where nothing ran.
        """
        try:
            card = str(nvml.nvmlDeviceGetUUID(handle))
            samples = nvml.nvmlDeviceGetProcessUtilization(handle, self._until.get(card, 0))
        except (nvml.NVMLError, UnicodeDecodeError):
            return {}
        shares: dict[int, list[int]] = defaultdict(list)
        until = self._until.get(card, 0)
        for sample in samples:
            # The buffer may bring unused rows, and rows from before the moment asked for.
            if sample.pid and sample.timeStamp > until and sample.smUtil <= 100:
                shares[sample.pid].append(sample.smUtil)
        self._until[card] = max((sample.timeStamp for sample in samples), default=until)
        return {pid: round(sum(seen) / len(seen)) for pid, seen in shares.items()}
