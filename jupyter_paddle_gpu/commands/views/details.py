"""What else a card tells: memory of the driver's own, clocks, errors, links, fans, modes."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.devices import Device, DeviceDetails, Inventory
from ...domain.messages import Message
from ..speech import Speech, size
from .machine import TableView

_LEGEND = Message(
    code="details_legend",
    text="–: not available, which the card, its driver or your rights do not tell. Of two values the second is the "
    "most, of errors the uncorrected ones, of the encoder's column the decoder.",
)


class DetailsView(TableView):
    """A row a device, a dash for whatever it cannot tell."""

    def __init__(self, inventory: Inventory) -> None:
        self.data: Inventory = inventory

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return (
            "#",
            say("Reserved"),
            say("Clock"),
            say("Memory clock"),
            say("Held back by"),
            say("Memory errors"),
            "PCIe",
            say("Fans"),
            say("Encoder"),
            say("Compute mode"),
            say("Persistence"),
            "MIG",
        )

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a device."""
        return [self._row(say, device) for device in self.data.devices]

    def _row(self, say: Speech, device: Device) -> Sequence[str]:
        own = device.details or DeviceDetails()
        held = own.throttling
        links = [(own.pcie_generation, own.pcie_width), (own.pcie_generation_max, own.pcie_width_max)]
        link = [None if None in pair else f"{pair[0]} x{pair[1]}" for pair in links]
        sliced = "–" if own.mig is None else say("yes") if own.mig else say("no")
        return (
            device.title,
            "–" if own.memory_reserved is None else size(own.memory_reserved),
            _two((own.clock, own.clock_max), " MHz"),
            _two((own.memory_clock, own.memory_clock_max), " MHz"),
            "–" if held is None else ", ".join(held) or say("nothing"),
            _two((own.ecc_corrected, own.ecc_uncorrected)),
            _two(tuple(link)),
            _two(tuple(own.fans), " %") if own.fans else "–",
            _two((own.encoder, own.decoder), " %"),
            own.compute_mode or "–",
            "–" if own.persistence is None else say("yes") if own.persistence else say("no"),
            sliced if own.slice_memory is None else size(own.slice_memory),
        )

    def sentences(self, say: Speech) -> Sequence[Message]:
        """How to read it."""
        return (_LEGEND,) if self.data.devices else ()


def _two(values: Sequence[int | float | str | None], unit: str = "") -> str:
    """Values side by side; one dash where none is told."""
    if all(value is None for value in values):
        return "–"
    return " / ".join("–" if value is None else str(value) for value in values) + unit
