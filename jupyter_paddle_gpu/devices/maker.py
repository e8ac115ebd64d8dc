"""A device maker in one row: what is on the bus, how its cards are read, named, handed out, and what they take.

Everything else asks the row, so a maker is one module in `makers/` and one line in `makers/registry.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..domain.devices import Device, Inventory
from ..domain.jobs import reasons
from ..domain.messages import Message
from .contexts import ContextRange, unknown
from .driver_words import UNKNOWN_WORDS, DriverWords
from .reader import Reader
from .releases import ReleaseBuilds
from .tool import Tool

Standing = Literal["read", "documented", "reported"]
"""How the facts of a row are known: read on a device, from the maker's or Paddle's documents, from users' reports."""
Version = tuple[int, int]
MEMORY_LIMIT = "FLAGS_gpu_memory_limit_mb"
"""Paddle's own flag, of all its builds whose devices are called `gpu`: so many MiB a process's allocator takes of each
device; beyond that it is out of memory, whatever is free (the help text of the flag in Paddle 3.3)."""
_MIB = 1 << 20
BUS = "sys/bus/pci/devices"


@dataclass(frozen=True, kw_only=True)
class PciIds:
    """How the maker's accelerators show on the PCI bus.

    Attributes:
        vendor: PCI vendor id, as `/sys/bus/pci/devices/*/vendor` has it.
        classes: beginnings of the device classes that are accelerators (`0x0302`: 3D controller, `0x12`: processing
            accelerator …); what else the maker sells does not count.
        names: device id -> model.
    """

    vendor: str
    classes: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeviceNodes:
    """A maker whose devices get into a container by their nodes, without the `--privileged` that its documents ask for.

    Attributes:
        nodes: one for each chosen device: `{n}` is its number, `{card}` and `{render}` those of its nodes of the
            kernel's graphics (DRM).
        shared: for all; missing ones are left out.
        tools: files and folders of the driver, mounted read-only where they are.
        renumbered: whether the maker's runtime counts the devices that it sees, from 0, where the others' nodes are
            not there; else the variable keeps the host's numbers.
    """

    nodes: tuple[str, ...]
    shared: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    renumbered: bool = False


@dataclass(frozen=True)
class HookRefusal:
    """Words of a hook that hands out no device, and what they mean.

    Attributes:
        fragments: any of them, in lower case, in a container daemon's answer.
        said: (what was answered, the devices that were asked for, the image) -> what a person reads.
    """

    fragments: tuple[str, ...]
    said: Callable[[str, str, str], Message]


@dataclass(frozen=True, kw_only=True)
class RuntimeHook:
    """A maker whose devices get into a container by request: a hook, a runtime or CDI of its own does the rest.

    Attributes:
        runtime: what Docker calls the maker's runtime.
        capabilities: what is asked for.
        cdi: kind of its devices in CDI specifications.
        programs: any of them in /usr/bin or /usr/local/bin shows that the hook is installed.
        hide: variables that keep every device from a container that is to have none.
        orders: pattern of the variables by which the hook is told what to hand out; nobody else may set them.
        shown: patterns of the nodes by which a container shows that it got a device.
        missing: what a person reads where the daemon has nobody who hands out these devices.
        ignored: where the daemon takes the request and the container has none.
        rootless: where the daemon runs as an ordinary user.
        refusals: how the hook refuses; the first whose words are in the answer says why.
    """

    runtime: str
    capabilities: tuple[str, ...]
    cdi: str
    programs: tuple[str, ...]
    hide: Mapping[str, str]
    orders: str = ""
    shown: tuple[str, ...]
    missing: Message
    ignored: Message
    rootless: Message
    refusals: tuple[HookRefusal, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MakerImage:
    """A development image for the maker's devices; Paddle's wheel goes on top of it."""

    machine: str
    reference: str
    standing: Standing
    source: str


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package of Python, in the newest version that is known to go with the others of its maker."""

    name: str
    version: str
    index: str


@dataclass(frozen=True, kw_only=True)
class PaddlePackages:
    """What Paddle itself is on a maker's devices: a build of its own, or Paddle for CPUs with the maker's plugin.

    Attributes:
        packages: in the order in which they are installed; the last one knows the devices.
        source: where this stands.
    """

    packages: tuple[Package, ...]
    source: str

    @property
    def install(self) -> str:
        """The command."""
        return " && ".join(f"pip install {row.name}=={row.version} -i {row.index}" for row in self.packages)


INDEX = "https://www.paddlepaddle.org.cn/packages/stable/{kind}/"
"""Paddle's own index of packages, one for each kind of device."""


def plugin(kind: str, version: str, source: str) -> PaddlePackages:
    """Paddle for CPUs with the plugin `paddle-custom-<kind>`, which has Paddle's own version."""
    return PaddlePackages(
        packages=(
            Package(name="paddlepaddle", version=version, index=INDEX.format(kind="cpu")),
            Package(name=f"paddle-custom-{kind}", version=version, index=INDEX.format(kind=kind)),
        ),
        source=source,
    )


def _nothing_found(inventory: Inventory) -> Iterable[Message]:
    return ()


def _not_barred(device: Device) -> Message | None:
    return None


def _nowhere(root: Path) -> bool:
    return False


def _anywhere(device_ids: tuple[str, ...], root: Path) -> frozenset[int]:
    return frozenset()


def _silent(devices: int) -> ContextRange:
    return ContextRange(0, 0, "")


def _unknown(capability: Version | None, cuda: Version | None) -> ContextRange:
    return unknown()


OUTDATED = Message(
    code="driver_mismatch",
    text="The host's driver is too old for what the image was built with.",
    hint="`jupyter paddle-gpu images` names the image for this driver: submit with it as `--image`, or update the "
    "driver.",
)


@dataclass(frozen=True, kw_only=True)
class Maker:
    """All that is known of a maker's devices.

    Attributes:
        name: `Device.vendor` of its devices; device ids begin with it where the driver has no identity of its own.
        title: its name for people.
        set_device: the word for `paddle.set_device`.
        own_word: its own for its devices, where another maker's that are here have the same of Paddle's.
        visible_devices: variable that names the devices a process sees.
        reserved: other variables that choose devices, which a person may not set in a container.
        hidden: what that variable holds where no device is to be seen; None: the maker does not say.
        container: how a device gets into a container.
        pci: None: not found on the bus.
        tools: its command-line tools, in the order in which they are looked for.
        families: words at the beginning of its models' names, behind its own, that a narrow line leaves out.
        brands: words (lower case) that sheets and drivers put around a model's own name; none tells two models apart.
        spellings: (pattern, replacement) in a lower-case name, so that two ways to write one model become the same.
        editions: pattern of the part of a lower-case name that tells editions of a model apart (one group); who leaves
            it out means all of them.
        words: what a process prints when its runtime or driver fails.
        lost: (device id, the driver's words) -> the reason of a job whose card failed.
        outdated: the reason of a job whose program needs a newer driver.
        barred: why nobody may compute on a card as its driver is set; None where one may.
        ids: pattern of its devices' ids; empty: `name-` and a PCI address or number.
        asks: the tools that tell of its cards, the first one that is installed is asked; see `devices.tools`.
        reader: makes what reads the live figures instead, from the folder with /proc and /sys. Without either, cards
            are listed from the bus, with the reason why there are no figures.
        paddle: the packages of Paddle for its devices where they are others than everybody's.
        releases: the builds of Paddle's own releases that run on its devices, with their images; None: none do.
        images: development images instead, where no release does.
        context: the range of memory that a process takes beside its tensors, by compute capability and CUDA version.
        communication: the same of what the library between so many of its devices keeps; none: nobody knows it.
        keeps_factors: whether its Paddle keeps both operands of a product for the backward pass, also where one of them
            alone wants a gradient and so only the other one is read (`multiply_fwd_func.cc`): all builds but those
            whose devices are of the type of GPUs, or `npu`, do.
        bfloat16: compute capability from which on its cards compute in bfloat16; None: its cards' sheets say it.
        findings: what `doctor` says of a working driver.
        present: whether the machine has its driver, by files below a root.
        numa: the NUMA nodes that devices hang on, by their ids; empty where that cannot be told.
        standing: how far these facts are known; nobody has run what is not `read`.
    """

    name: str
    title: str
    set_device: str
    visible_devices: str
    own_word: str = ""
    reserved: tuple[str, ...] = ()
    hidden: str | None = None
    container: DeviceNodes | RuntimeHook
    pci: PciIds | None = None
    tools: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()
    editions: str = ""
    words: DriverWords = UNKNOWN_WORDS
    lost: Callable[[str, str], Message] = reasons.device_lost
    outdated: Message = OUTDATED
    barred: Callable[[Device], Message | None] = _not_barred
    ids: str = ""
    asks: tuple[Tool, ...] = ()
    reader: Callable[[Path], Reader] | None = None
    paddle: PaddlePackages | None = None
    releases: ReleaseBuilds | None = None
    images: tuple[MakerImage, ...] = ()
    context: Callable[[Version | None, Version | None], ContextRange] = _unknown
    communication: Callable[[int], ContextRange] = _silent
    keeps_factors: bool = False
    bfloat16: Version | None = None
    findings: Callable[[Inventory], Iterable[Message]] = _nothing_found
    present: Callable[[Path], bool] = _nowhere
    numa: Callable[[tuple[str, ...], Path], frozenset[int]] = _anywhere
    standing: Standing

    @property
    def checked(self) -> bool:
        """Whether somebody saw these facts on the maker's hardware."""
        return self.standing == "read"

    @property
    def limits_memory(self) -> bool:
        """Whether a process can be kept to a share of a device's memory."""
        return self.set_device == "gpu"

    def limit(self, share: int) -> dict[str, str]:
        """The variables that keep a process to a share (bytes) of each of its devices.

        What it takes beside its tensors is no allocator's: the upper end of that is left free.
        """
        left = share - self.context(None, None).high
        return {MEMORY_LIMIT: str(max(1, left // _MIB))} if self.limits_memory else {}

    def short_name(self, model: str) -> str:
        """A model's name without what every card of the maker is called."""
        for word in (self.title, *self.families):
            model = re.sub(rf"^{re.escape(word)}\s+", "", model, flags=re.IGNORECASE)
        return model

    def owns(self, device_id: str) -> bool:
        """Whether an id is that of one of its devices."""
        return re.fullmatch(self.ids or rf"{re.escape(self.name)}-[0-9a-fA-F:.]+", device_id) is not None

    def number(self, device_id: str, root: Path) -> int:
        """The driver's number of a card whose id has its PCI address: its place among the maker's, by address."""
        which = device_id.partition("-")[2]
        if which.isdigit():
            return int(which)
        kinds = _functions(root)
        cards = [address for address, kind in kinds.items() if kind == kinds.get(which)]
        return cards.index(which) if which in cards else 0

    def visible(self, device_ids: tuple[str, ...], root: Path) -> str:
        """What `visible_devices` holds for these devices: ids where the driver has any, else numbers."""
        if isinstance(self.container, RuntimeHook):
            return ",".join(device_ids)
        return ",".join(str(self.number(device, root)) for device in device_ids)

    def preflight(self, device_ids: tuple[str, ...], root: Path) -> Message | None:
        """What keeps a job from these devices, as far as the machine's files tell."""
        if not isinstance(self.container, DeviceNodes):
            return None
        nodes = self.nodes(self.container, device_ids, root)
        if any((root / node.lstrip("/")).exists() for node in nodes):
            return None
        return Message(
            code="device_node_missing",
            text="The device node {node} does not exist on this machine.",
            hint="Load the maker's driver, or choose another device.",
            params={"node": nodes[0]},
        )

    def nodes(self, container: DeviceNodes, device_ids: tuple[str, ...], root: Path) -> list[str]:
        """The nodes of these devices, whether they are there or not."""
        return [
            node.format(**names)
            for names in ({"n": self.number(device, root), **self._drm(device, root)} for device in device_ids)
            for node in container.nodes
        ]

    def _drm(self, device_id: str, root: Path) -> dict[str, int]:
        """Numbers of a card's two nodes below /dev/dri, which other graphics (a console's) shift.

        Where the bus does not tell, those of a machine that has no other.
        """
        number, which = self.number(device_id, root), device_id.partition("-")[2]
        found = {"card": number, "render": 128 + number}
        if which.isdigit() and (pci := self.pci) is not None:  # its tool tells no addresses, and counts by them
            own = [
                at
                for at, (vendor, kind) in _functions(root).items()
                if vendor == pci.vendor and kind.startswith(pci.classes)
            ]
            which = own[number] if number < len(own) else which
        for node in (root / BUS / which / "drm").glob("*[0-9]"):
            kind = re.fullmatch(r"(card|renderD)(\d+)", node.name)
            if kind:
                found["card" if kind[1] == "card" else "render"] = int(kind[2])
        return found


def _functions(root: Path) -> dict[str, tuple[str, str]]:
    """Vendor and class of each function on the PCI bus, by address."""
    texts = ((path.name, [path / name for name in ("vendor", "class")]) for path in (root / BUS).glob("*"))
    read = {at: [text.read_text().strip() if text.exists() else "" for text in both] for at, both in texts}
    return {at: (read[at][0], read[at][1]) for at in sorted(read)}
