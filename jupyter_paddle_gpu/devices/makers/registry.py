"""The device makers there are: ours by one line each, those of other packages by an entry point.

A package adds a maker with, in its `pyproject.toml`,

    [project.entry-points."jupyter_paddle_gpu.devices"]
    iluvatar = "my_package.iluvatar:MAKER"

where `MAKER` is a `Maker`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint
from pathlib import Path

import msgspec

from ... import plugins
from ...domain.devices import Accelerator, Device
from ...domain.messages import Message
from ..contexts import ContextRange, unknown
from ..driver_words import Fault
from ..listed import ListedReader
from ..maker import Maker, RuntimeHook
from ..reader import Reader
from . import amd, ascend, cambricon, enflame, hygon, kunlunxin, nvidia

GROUP = "jupyter_paddle_gpu.devices"
"""Entry points of other packages' makers."""

BUILT_IN: tuple[Maker, ...] = (
    nvidia.MAKER,
    ascend.MAKER,
    kunlunxin.MAKER,
    hygon.MAKER,
    cambricon.MAKER,
    enflame.MAKER,
    amd.MAKER,
)
"""Ours. An id that nobody knows is taken for one of the first."""


@dataclass(frozen=True)
class Makers:
    """The makers by name, and why others are not among them."""

    rows: dict[str, Maker]
    problems: tuple[Message, ...] = ()

    def named(self, vendor: str | None) -> Maker | None:
        """The maker of `Device.vendor`; None for the CPU and for one that nobody knows."""
        return self.rows.get(vendor or "")

    def of_device(self, device_id: str) -> Maker:
        """The maker of a device by its id."""
        rows = list(self.rows.values())
        return next((maker for maker in rows if maker.owns(device_id)), rows[0])

    @cached_property
    def sharing(self) -> frozenset[str]:
        """Vendors of devices of which a process can be kept to a share of their memory."""
        return frozenset(name for name, maker in self.rows.items() if maker.limits_memory)

    def readers(self, root: Path = Path("/")) -> list[Reader]:
        """What reads the devices, one a maker."""
        from ..tool_reader import ToolReader  # what names processes is heavy, and rows are asked for more often

        def reader(maker: Maker) -> Reader:
            if maker.reader is not None:
                return maker.reader(root)
            return ToolReader(maker, root) if maker.asks else ListedReader(maker, root)

        return [reader(maker) for maker in self.rows.values()]

    def hooks(self) -> list[tuple[Maker, RuntimeHook]]:
        """The makers whose devices a container gets by request."""
        return [(maker, maker.container) for maker in self.rows.values() if isinstance(maker.container, RuntimeHook)]

    def sets(self, variable: str) -> bool:
        """Whether a variable is for whoever hands out devices to set, nobody else."""
        return variable in self.variables() or any(re.fullmatch(hook.orders, variable) for _, hook in self.hooks())

    def variables(self) -> frozenset[str]:
        """Every variable that chooses devices in a process."""
        rows = self.rows.values()
        return frozenset(name for maker in rows for name in (maker.visible_devices, *maker.reserved))

    def words(self, fault: Fault) -> tuple[str, ...]:
        """The patterns of all makers for one kind of failure."""
        return tuple(found for maker in self.rows.values() if (found := getattr(maker.words, fault)))

    def visible(self, device_ids: tuple[str, ...], root: Path = Path("/")) -> dict[str, str]:
        """The variables of a process that is to see these devices and, where the makers say how, no others."""
        found = {maker.visible_devices: maker.hidden for maker in self.rows.values() if maker.hidden is not None}
        if device_ids:
            found[self.of_device(device_ids[0]).visible_devices] = self.labels(device_ids, root)
        return found

    def labels(self, device_ids: tuple[str, ...], root: Path = Path("/")) -> str:
        """What a process that is to see these devices calls them, and what Paddle's launcher knows them by."""
        return self.of_device(device_ids[0]).visible(device_ids, root)

    def hidden(self, root: Path = Path("/")) -> dict[str, str]:
        """The variables of a process that is to see no device of this machine. Where a maker's driver is not there is
        nothing to hide, and Paddle's launcher takes an empty list of devices for one device."""
        makers = [maker for maker in self.rows.values() if maker.hidden is not None and maker.present(root)]
        return {maker.visible_devices: maker.hidden or "" for maker in makers}

    def limited(self, device_ids: tuple[str, ...], shares: Iterable[int]) -> dict[str, str]:
        """The variables of a process that has these shares (bytes) of its devices' memory; none: the whole devices."""
        least = min(shares, default=None)
        return {} if least is None or not device_ids else self.of_device(device_ids[0]).limit(least)


def with_names(devices: Iterable[Device]) -> tuple[Device, ...]:
    """Devices with the names that a narrow line has for them, and what their makers call devices: Paddle's word, or the
    maker's own where Paddle has one word for those of several makers that are here."""
    known = [(device, makers().named(device.vendor)) for device in devices]
    owners = {(maker.set_device, maker.name) for _, maker in known if maker is not None}
    shared = Counter(word for word, _ in owners)

    def named(device: Device, maker: Maker | None) -> Device:
        if maker is None:
            return device
        word = maker.own_word if shared[maker.set_device] > 1 and maker.own_word else maker.set_device
        return msgspec.structs.replace(device, short_name=maker.short_name(device.name), kind=word)

    return tuple(named(device, maker) for device, maker in known)


def context_range(vendor: str | None, capability: tuple[int, int] | None) -> ContextRange:
    """What a process takes of a device of this maker beside its tensors; None: of the first maker's."""
    if vendor is None:
        return BUILT_IN[0].context(capability, None)
    maker = makers().named(vendor)
    return unknown() if maker is None else maker.context(capability, None)


def communication_range(vendor: str | None, devices: int) -> ContextRange:
    """What the library between so many devices of this maker keeps on each; None: of the first maker's."""
    maker = BUILT_IN[0] if vendor is None else makers().named(vendor)
    return BUILT_IN[0].communication(1) if maker is None else maker.communication(devices)


@cache
def makers() -> Makers:
    """All makers; looked for once."""
    return load()


def load(rows: Iterable[Maker] | None = None, others: Iterable[EntryPoint] | None = None) -> Makers:
    """The makers, ours where no others are given."""
    return Makers(*plugins.registered(GROUP, Maker, BUILT_IN if rows is None else rows, others))


def keeps_factors(accelerator: Accelerator | None) -> bool:
    """Whether Paddle keeps both operands of a product there (`Maker.keeps_factors`); None: on the first maker's."""
    maker = BUILT_IN[0] if accelerator is None else makers().named(accelerator.vendor)
    return maker is not None and maker.keeps_factors


def has_bfloat16(accelerator: Accelerator) -> bool:
    """By its sheet, or by what its maker says of all cards of its compute capability."""
    maker = makers().named(accelerator.vendor)
    since = maker.bfloat16 if maker is not None else None
    capability = accelerator.compute_capability
    return accelerator.bf16 is not None or (since is not None and capability is not None and capability >= since)
